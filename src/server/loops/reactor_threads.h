/* Runs one event loop per thread, each with its own listener. */
#pragma once
struct opening;
struct server;

/* Calls `run` in each worker's thread, with its own copy of the server, and returns when all have
 * returned. Each waits at `opening` once it has opened what it needs, or failed to; if all have,
 * the server is ready. When one fails, the others are stopped. Returns 0 or the first -errno. */
int reactor_threads_run(struct server *server,
                        int (*run)(struct server *server, struct opening *opening));

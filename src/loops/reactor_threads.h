/* The same event loop in several threads, each with a listener of its own. */
#pragma once
#include <pthread.h>

struct server;

/* Runs `run` in each of the workers' threads, on a struct server of its own; ends when all have
 * ended. Each meets the others once at `opening`, when it has opened what it needs or failed to.
 * When one fails the others are told to stop. Returns 0 or the first's -errno. */
int reactor_threads_run(struct server *server,
                        int (*run)(struct server *server, pthread_barrier_t *opening));

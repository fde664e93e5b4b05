/* The same event loop in several threads, each with a listener of its own. */
#pragma once
struct server;

/* Runs `run`, which calls server_is_open once, in each of the workers' threads, on a struct server
 * of its own; ends when all have ended. When one fails the others are told to stop. Returns 0 or
 * the first's -errno. */
int reactors_run(struct server *server, int (*run)(struct server *server));

/* An event loop on io_uring. */
#pragma once
#include <pthread.h>

struct server;

/* Why io_uring cannot be used here, in words; NULL: it can. */
const char *uring_missing(void);

/* Makes a ring for each worker (server->prepared). Returns 0 or -errno. */
int uring_prepare(struct server *server);

/* Serves until the server is told to stop, then drains. `opening`: as in struct loop. Returns 0 or
 * -errno. */
int uring_run(struct server *server, pthread_barrier_t *opening);

/* An event loop on io_uring. */
#pragma once
#include <pthread.h>

struct server;

/* Why there can be none here, in words; NULL: there can. */
const char *uring_missing(void);

/* Serves until the server is told to stop, then drains. `opening`: where it meets the loops of
 * other threads when it has opened its ring, or failed to; NULL: it is alone. Returns 0 or -errno.
 */
int uring_run(struct server *server, pthread_barrier_t *opening);

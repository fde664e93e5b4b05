/* An event loop on io_uring. */
#pragma once
struct opening;
struct server;

/* Why io_uring, or a tuned ring, cannot be used here, as a sentence; NULL: it can. */
const char *uring_missing(void);
const char *uring_tuned_missing(void);

/* Creates a disabled ring for each worker in server->prepared. Returns 0 or -errno. */
int uring_prepare(struct server *server);

/* Serves until the server is stopped, then drains. opening: as in struct loop. Returns 0 or -errno.
 */
int uring_run(struct server *server, struct opening *opening);

/* uring: one event loop on io_uring.
 *
 * The server tells the kernel what to do instead of asking what is ready: server/uring/loop.c. */
#include "server/design.h"
#include "server/uring/loop.h"

#include <stddef.h>

static int run(struct server *server) {
    return uring_run(server, NULL);
}

const struct design design_uring = {
    .name = "uring",
    .summary = "one io_uring: multishot accept and receive, provided buffers",
    .rings = RINGS_PLAIN,
    .missing = uring_missing,
    .prepare = uring_prepare,
    .run = run,
};

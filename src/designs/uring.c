/* uring: one event loop on io_uring.
 *
 * The kernel is told what to do, not asked what is ready: uring_loop.c. */
#include "server/design.h"
#include "uring/loop.h"

#include <stddef.h>

static int run(struct server *server) {
    return uring_run(server, NULL);
}

const struct design design_uring = {
    .name = "uring",
    .summary = "one io_uring: multishot accept and receive, provided buffers",
    .uses_rings = true,
    .missing = uring_missing,
    .prepare = uring_prepare,
    .run = run,
};

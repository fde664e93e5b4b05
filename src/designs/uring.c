/* uring and uring-reactors: one event loop on io_uring, or one in each worker.
 *
 * The kernel is told what to do, not asked what is ready: uring_loop.c. */
#include "designs/uring.h"

#include "designs/reactors.h"
#include "server/design.h"

#include <stddef.h>

static int run(struct server *server) {
    return uring_run(server, NULL);
}

static int run_reactors(struct server *server) {
    return reactors_run(server, uring_run);
}

const struct design design_uring = {
    .name = "uring",
    .summary = "one io_uring: multishot accept and receive, provided buffers",
    .uses_rings = true,
    .missing = uring_missing,
    .run = run,
};

const struct design design_uring_reactors = {
    .name = "uring-reactors",
    .summary = "one io_uring per worker, SO_REUSEPORT",
    .workers = ONE_PER_CPU,
    .shares_port = true,
    .uses_rings = true,
    .missing = uring_missing,
    .run = run_reactors,
};

/* uring-reactors: one io_uring per worker, SO_REUSEPORT.
 *
 * Like reactors, with the loop of `uring` in each worker instead of the one of `epoll`. */
#include "server/design.h"
#include "server/loops/reactor_threads.h"
#include "server/uring/loop.h"

static int run(struct server *server) {
    return reactor_threads_run(server, uring_run);
}

const struct design design_uring_reactors = {
    .name = "uring-reactors",
    .summary = "one io_uring per worker, SO_REUSEPORT",
    .workers = ONE_PER_CPU,
    .shares_port = true,
    .rings = RINGS_PLAIN,
    .missing = uring_missing,
    .prepare = uring_prepare,
    .run = run,
};

/* uring-tuned: the loop of `uring`, which waits for several completions under load.
 *
 * `uring` has what costs nobody anything: a single issuer, deferred task work, multishot accept and
 * receive, a ring of buffers, no completion of sends, a registered ring. What liburing's
 * documentation recommends beyond that is a trade. This one is: after a turn with more than one
 * completion, the next wait is for one more than that, for at most GATHER_US. Each system call then
 * serves more requests, and the first of them waits longer. A lone client that keeps its
 * connection, or a low rate, hardly ever waits longer than with `uring`.
 *
 * Left out: direct descriptors, which save nothing here (1.01 ± 0.03 of the CPU), and bundles and
 * incremental buffers, which are for requests that fill more than one buffer. */
#include "server/design.h"
#include "server/uring/loop.h"

#include <stddef.h>

static int run(struct server *server) {
    return uring_run(server, NULL);
}

const struct design design_uring_tuned = {
    .name = "uring-tuned",
    .summary = "one io_uring that waits for several completions under load",
    .rings = RINGS_TUNED,
    .missing = uring_tuned_missing,
    .prepare = uring_prepare,
    .run = run,
};

/* uring-sqpoll: the loop of `uring`, whose submissions a thread of the kernel picks up.
 *
 * No system call submits anything: the server writes to the ring, and the thread, which belongs to
 * the server, accepts, receives and sends. It looks for work without a pause, and sleeps only after
 * some milliseconds without any. So it needs a CPU beside the server's: on the same one each waits
 * for the other to be descheduled. Its CPU time is the server's, and counted as such. */
#include "server/design.h"
#include "server/uring/loop.h"

#include <stddef.h>

static int run(struct server *server) {
    return uring_run(server, NULL);
}

const struct design design_uring_sqpoll = {
    .name = "uring-sqpoll",
    .summary = "one io_uring, whose submissions a thread of the kernel picks up",
    .rings = RINGS_POLLED,
    .missing = uring_missing,
    .prepare = uring_prepare,
    .run = run,
};

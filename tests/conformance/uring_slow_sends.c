/* The io_uring designs on a kernel that needs 300 us for each submission, as it does for large
 * replies to a client that reads none of them. */
#include "base/clock.h"

#include <liburing.h>

enum { ENTRY_US = 300 };

static inline void spin_for(const struct io_uring *ring) {
    const int64_t end_ns = clock_monotonic_ns() + io_uring_sq_ready(ring) * ENTRY_US * NS_PER_US;
    while (clock_monotonic_ns() < end_ns)
        ;
}

#define io_uring_submit(ring) (spin_for(ring), io_uring_submit(ring))
#define io_uring_submit_and_get_events(ring) (spin_for(ring), io_uring_submit_and_get_events(ring))
#define io_uring_submit_and_wait(ring, count)                                                      \
    (spin_for(ring), io_uring_submit_and_wait(ring, count))
#define io_uring_submit_and_wait_timeout(ring, completion, count, limit, mask)                     \
    (spin_for(ring), io_uring_submit_and_wait_timeout(ring, completion, count, limit, mask))
#include "server/uring/loop.c"

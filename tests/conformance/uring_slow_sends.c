/* The designs on io_uring on a kernel that needs 300 us for whatever it is told to do, as it does
 * for large replies to a client that takes none of them. */
#include "base/clock.h"

#include <liburing.h>

enum { ENTRY_US = 300 };

static inline void need_long(const struct io_uring *ring) {
    const int64_t end_ns = clock_monotonic_ns() + io_uring_sq_ready(ring) * ENTRY_US * NS_PER_US;
    while (clock_monotonic_ns() < end_ns)
        ;
}

#define io_uring_submit(ring) (need_long(ring), io_uring_submit(ring))
#define io_uring_submit_and_get_events(ring) (need_long(ring), io_uring_submit_and_get_events(ring))
#define io_uring_submit_and_wait(ring, count)                                                      \
    (need_long(ring), io_uring_submit_and_wait(ring, count))
#define io_uring_submit_and_wait_timeout(ring, completion, count, limit, mask)                     \
    (need_long(ring), io_uring_submit_and_wait_timeout(ring, completion, count, limit, mask))
#include "uring/loop.c"

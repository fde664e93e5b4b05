/* An io_uring with the features that our designs need, and its receive buffers. It belongs to the
 * thread that opened it.
 *
 * Buffers are provided through a second ring, in memory shared with the kernel: a receive takes one
 * only when data arrives, so that an idle connection holds none; returning one takes no system
 * call. */
#pragma once
#include "server/design.h"

#include <liburing.h>
#include <stdint.h>

enum {
    BUFFER_COUNT = 256, /* for data that arrives between two turns; if none is left: -ENOBUFS */
    BUFFER_BYTES = 1024,
    BUFFER_GROUP = 0,
    /* With more, the saving of a call is small, but so may be the number of clients that are left
     * to send something. */
    GATHERED = 8,
    GATHER_US = 100, /* how much later the first of several completions may be handled */
};

struct uring {
    struct io_uring ring;
    enum rings kind;
    struct io_uring_buf_ring *provided;
    char *buffers;
};

/* Opens a ring for the calling thread. Returns 0 or -errno. */
int uring_open(struct uring *uring, enum rings kind);

/* The same in two steps, because in the sandbox no ring can be set up: one is created before,
 * disabled and restricted to the operations that our designs need, none of which opens a file or a
 * socket. uring_enable is called in the thread that uses it; before that, the struct may be moved.
 * Both return 0, or -errno with the ring closed. */
int uring_create_disabled(struct uring *uring, enum rings kind);
int uring_enable(struct uring *uring);

/* Cancels all operations; the kernel touches no buffer afterwards. */
void uring_close(struct uring *uring);

/* Submits everything, and waits for one completion more than came last, as the load may have grown,
 * but after GATHER_US for one. limit: of the whole wait; NULL: GATHER_US. Returns what
 * io_uring_submit_and_wait_timeout does: -ETIME if none came. */
int uring_gather(struct uring *uring, unsigned completed, struct __kernel_timespec *limit);

/* The buffer of a completion with IORING_CQE_F_BUFFER. */
static inline const char *uring_buffer(const struct uring *uring, uint32_t flags) {
    return uring->buffers + (flags >> IORING_CQE_BUFFER_SHIFT) * BUFFER_BYTES;
}

/* Returns that buffer to the kernel. */
static inline void uring_give_back(struct uring *uring, uint32_t flags) {
    unsigned id = flags >> IORING_CQE_BUFFER_SHIFT;
    io_uring_buf_ring_add(uring->provided, uring->buffers + (size_t)id * BUFFER_BYTES, BUFFER_BYTES,
                          (unsigned short)id, BUFFER_COUNT - 1, 0);
    io_uring_buf_ring_advance(uring->provided, 1);
}

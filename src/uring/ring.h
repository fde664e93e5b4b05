/* An io_uring with the features that our designs need, and the buffers it receives into. It belongs
 * to the thread that opened it.
 *
 * Buffers are provided through a ring of their own in shared memory: a receive takes one only when
 * data arrives, so that an idle connection holds none; giving one back takes no system call. */
#pragma once
#include <liburing.h>
#include <stdint.h>

enum {
    BUFFER_COUNT = 256, /* for data that arrives between two turns; beyond: -ENOBUFS */
    BUFFER_BYTES = 1024,
    BUFFER_GROUP = 0,
};

struct uring {
    struct io_uring ring;
    struct io_uring_buf_ring *provided;
    char *buffers;
};

/* For the calling thread. Returns 0 or -errno. */
int uring_open(struct uring *uring);

/* The same in two steps: where the thread that uses it may no longer set up a ring. It can never do
 * more than our designs need: no operation that opens a file or a socket. Between the two it may be
 * moved. Return 0, or -errno and the ring is gone. */
int uring_make(struct uring *uring);
int uring_begin(struct uring *uring);

/* Cancels what is under way; the kernel touches no buffer afterwards. */
void uring_close(struct uring *uring);

/* The bytes of the buffer that a completion with IORING_CQE_F_BUFFER names. */
static inline const char *uring_buffer(const struct uring *uring, uint32_t flags) {
    return uring->buffers + (flags >> IORING_CQE_BUFFER_SHIFT) * BUFFER_BYTES;
}

/* Its data has been read. */
static inline void uring_give_back(struct uring *uring, uint32_t flags) {
    unsigned id = flags >> IORING_CQE_BUFFER_SHIFT;
    io_uring_buf_ring_add(uring->provided, uring->buffers + (size_t)id * BUFFER_BYTES, BUFFER_BYTES,
                          (unsigned short)id, BUFFER_COUNT - 1, 0);
    io_uring_buf_ring_advance(uring->provided, 1);
}

/* A ring of io_uring with the features that our designs on it need, and the buffers that it
 * receives into. One thread owns it: the one that opened it.
 *
 * Buffers are provided through a ring of their own, in memory that both sides see: receiving takes
 * one when data is there and not before, so that a connection that is silent holds none, and one
 * that was read goes back without a system call. */
#pragma once
#include <liburing.h>
#include <stdint.h>

enum {
    BUFFER_COUNT = 256, /* that data may arrive in before we look; none is left: -ENOBUFS */
    BUFFER_BYTES = 1024,
    BUFFER_GROUP = 0,
};

struct uring {
    struct io_uring ring;
    struct io_uring_buf_ring *provided;
    char *buffers;
};

/* Returns 0 or -errno. */
int uring_open(struct uring *uring);
/* Cancels what is under way; the kernel touches no buffer afterwards. */
void uring_close(struct uring *uring);

/* The bytes of the buffer that a completion with IORING_CQE_F_BUFFER names. */
static inline const char *uring_buffer(const struct uring *uring, uint32_t flags) {
    return uring->buffers + (flags >> IORING_CQE_BUFFER_SHIFT) * BUFFER_BYTES;
}

/* It was read: new data may go there. */
static inline void uring_give_back(struct uring *uring, uint32_t flags) {
    unsigned id = flags >> IORING_CQE_BUFFER_SHIFT;
    io_uring_buf_ring_add(uring->provided, uring->buffers + (size_t)id * BUFFER_BYTES, BUFFER_BYTES,
                          (unsigned short)id, BUFFER_COUNT - 1, 0);
    io_uring_buf_ring_advance(uring->provided, 1);
}

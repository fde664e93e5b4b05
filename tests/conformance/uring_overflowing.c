/* The designs on io_uring, where the ring of completions overflows in each turn that tells of a
 * reply that went in part. It holds 2,048, and newer kernels hand over a few at a time: there no
 * crowd that a test could make gets so far. */
#include <liburing.h>

static bool overflows(struct io_uring *ring);

#define io_uring_cq_has_overflow overflows
#include "designs/uring_loop.c"

static bool overflows(struct io_uring *ring) {
    struct io_uring_cqe *completion;
    unsigned head;
    io_uring_for_each_cqe(ring, head, completion) {
        if (operation_of(io_uring_cqe_get_data(completion)) == SEND)
            return true;
    }
    return false;
}

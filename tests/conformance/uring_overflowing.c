/* The io_uring designs with a completion ring that seems to overflow whenever it reports a partial
 * send. The real ring has 2,048 entries, and newer kernels deliver a few at a time, so that no test
 * could fill it. */
#include <liburing.h>

static bool overflows(struct io_uring *ring);

#define io_uring_cq_has_overflow overflows
#include "server/uring/loop.c"

static bool overflows(struct io_uring *ring) {
    struct io_uring_cqe *completion;
    unsigned head;
    io_uring_for_each_cqe(ring, head, completion) {
        if (operation_of(io_uring_cqe_get_data(completion)) == SEND)
            return true;
    }
    return false;
}

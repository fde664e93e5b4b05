/* The loop of the twins of all designs on io_uring: multishot accept and receive into provided
 * buffers, on a ring like ours. Sending a reply creates no completion.
 *
 * A client's first receive is not multishot, so that a client with one request can be closed
 * without a cancellation. */
#include "react.h"
#include "server/uring/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

enum operation { ACCEPT, RECEIVE, OTHER, OPERATION_MASK = 3, OPERATION_BITS = 2 };

struct loop {
    const struct twin *twin;
    int listener;
    struct uring uring;
    struct asked *asked; /* by descriptor */
};

/* An entry, submitted with the next wait; if the ring is full, it is submitted first. */
static struct io_uring_sqe *next_entry(struct loop *loop) {
    struct io_uring_sqe *entry = io_uring_get_sqe(&loop->uring.ring);
    if (entry != NULL)
        return entry;
    io_uring_submit(&loop->uring.ring);
    io_uring_sqring_wait(&loop->uring.ring); /* for the kernel's thread, if it submits */
    entry = io_uring_get_sqe(&loop->uring.ring);
    if (entry == NULL)
        abort();
    return entry;
}

static void mark(struct io_uring_sqe *entry, int fd, enum operation operation) {
    entry->user_data = (uint64_t)fd << OPERATION_BITS | operation;
    if (operation == OTHER)
        entry->flags |= IOSQE_CQE_SKIP_SUCCESS;
}

static void accept_all(struct loop *loop) {
    struct io_uring_sqe *entry = next_entry(loop);
    io_uring_prep_multishot_accept(entry, loop->listener, NULL, NULL, SOCK_CLOEXEC);
    mark(entry, loop->listener, ACCEPT);
}

static void receive(struct loop *loop, int fd, bool is_first) {
    struct io_uring_sqe *entry = next_entry(loop);
    if (is_first)
        io_uring_prep_recv(entry, fd, NULL, BUFFER_BYTES, 0);
    else
        io_uring_prep_recv_multishot(entry, fd, NULL, 0, 0);
    entry->flags |= IOSQE_BUFFER_SELECT;
    entry->buf_group = BUFFER_GROUP;
    mark(entry, fd, RECEIVE);
}

/* Without a completion: the receive reports a broken connection. */
static void send_reply(struct loop *loop, int fd, bool is_last) {
    const struct twin *twin = loop->twin;
    struct io_uring_sqe *entry = next_entry(loop);
    io_uring_prep_send(entry, fd, is_last ? twin->last : twin->reply,
                       is_last ? twin->last_length : twin->reply_length, MSG_NOSIGNAL);
    mark(entry, fd, OTHER);
}

/* Through the ring, so after the reply. It ends a pending receive. */
static void shut(struct loop *loop, int fd) {
    struct io_uring_sqe *entry = next_entry(loop);
    io_uring_prep_shutdown(entry, fd, SHUT_RDWR);
    mark(entry, fd, OTHER);
}

static void hang_up(struct loop *loop, int fd) {
    struct io_uring_sqe *entry = next_entry(loop);
    io_uring_prep_close(entry, fd);
    mark(entry, fd, OTHER);
}

/* Returns whether the connection is over. */
static bool answer(struct loop *loop, struct asked *asked, int fd, const struct io_uring_cqe *cqe) {
    bool is_last = false;
    if (asked_is_whole(asked, uring_buffer(&loop->uring, cqe->flags), (size_t)cqe->res)) {
        is_last = asked_is_last(asked);
        send_reply(loop, fd, is_last);
    }
    return is_last;
}

static void take_received(struct loop *loop, int fd, const struct io_uring_cqe *cqe) {
    bool goes_on = (cqe->flags & IORING_CQE_F_MORE) != 0;
    bool is_over = cqe->res <= 0 && cqe->res != -ENOBUFS; /* no buffer was free: try again */
    if (cqe->res > 0)
        is_over = answer(loop, &loop->asked[fd], fd, cqe);
    if (cqe->flags & IORING_CQE_F_BUFFER)
        uring_give_back(&loop->uring, cqe->flags);
    if (is_over && goes_on)
        shut(loop, fd);
    else if (is_over)
        hang_up(loop, fd);
    else if (!goes_on)
        receive(loop, fd, false);
}

static void take(struct loop *loop, const struct io_uring_cqe *cqe) {
    int fd = (int)(cqe->user_data >> OPERATION_BITS);
    enum operation operation = (enum operation)(cqe->user_data & OPERATION_MASK);
    if (operation == RECEIVE)
        take_received(loop, fd, cqe);
    if (operation == ACCEPT && cqe->res >= 0)
        receive(loop, cqe->res, true);
    if (operation == ACCEPT && !(cqe->flags & IORING_CQE_F_MORE))
        accept_all(loop);
}

enum rings react_rings = RINGS_PLAIN;

/* completed: by the last wait. */
static int submit_and_wait(struct loop *loop, unsigned completed) {
    if (react_rings != RINGS_TUNED || completed < 2)
        return io_uring_submit_and_wait(&loop->uring.ring, 1);
    return uring_gather(&loop->uring, completed, NULL);
}

int react(const struct twin *twin, int listener) {
    unsigned count = 0;
    struct loop loop = {.twin = twin, .listener = listener};
    loop.asked = calloc(FD_SIZE, sizeof *loop.asked);
    int error = loop.asked == NULL ? -ENOMEM : uring_open(&loop.uring, react_rings);
    if (error != 0)
        return error;
    accept_all(&loop);
    while ((error = submit_and_wait(&loop, count)) >= 0 || error == -EINTR || error == -ETIME) {
        struct io_uring_cqe *cqe;
        unsigned head;
        count = 0;
        io_uring_for_each_cqe(&loop.uring.ring, head, cqe) {
            take(&loop, cqe);
            count++;
        }
        io_uring_cq_advance(&loop.uring.ring, count);
    }
    return error;
}

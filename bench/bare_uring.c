/* The floor of every server on io_uring: as bare_epoll.c, with multishot accept and receive into
 * provided buffers, on the ring that the design uring opens. A sent reply gives no completion.
 * usage: bare-uring HOST:PORT REPLY-FILE */
#include "bare.h"
#include "designs/uring_ring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum operation { ACCEPT, RECEIVE, SEND, CLOSE, OPERATION_MASK = 3, OPERATION_BITS = 2 };

struct loop {
    const struct bare *bare;
    struct uring uring;
};

/* An entry that goes with the next wait, or at once if the ring is full. */
static struct io_uring_sqe *next_entry(struct loop *loop) {
    struct io_uring_sqe *entry = io_uring_get_sqe(&loop->uring.ring);
    if (entry != NULL)
        return entry;
    io_uring_submit(&loop->uring.ring);
    entry = io_uring_get_sqe(&loop->uring.ring);
    if (entry == NULL)
        abort();
    return entry;
}

static void mark(struct io_uring_sqe *entry, int fd, enum operation operation) {
    entry->user_data = (uint64_t)fd << OPERATION_BITS | operation;
}

static void accept_all(struct loop *loop) {
    struct io_uring_sqe *entry = next_entry(loop);
    io_uring_prep_multishot_accept(entry, loop->bare->listener, NULL, NULL, SOCK_CLOEXEC);
    mark(entry, loop->bare->listener, ACCEPT);
}

static void receive(struct loop *loop, int fd) {
    struct io_uring_sqe *entry = next_entry(loop);
    io_uring_prep_recv_multishot(entry, fd, NULL, 0, 0);
    entry->flags |= IOSQE_BUFFER_SELECT;
    entry->buf_group = BUFFER_GROUP;
    mark(entry, fd, RECEIVE);
}

/* A reply is far smaller than a socket's buffer: it is sent whole, or the client is gone. */
static void send_reply(struct loop *loop, int fd) {
    struct io_uring_sqe *entry = next_entry(loop);
    io_uring_prep_send(entry, fd, loop->bare->reply, loop->bare->length, MSG_NOSIGNAL);
    entry->flags |= IOSQE_CQE_SKIP_SUCCESS;
    mark(entry, fd, SEND);
}

/* Through the ring as well: a reply that was not handed over yet must go before. */
static void hang_up(struct loop *loop, int fd) {
    struct io_uring_sqe *entry = next_entry(loop);
    io_uring_prep_close(entry, fd);
    entry->flags |= IOSQE_CQE_SKIP_SUCCESS;
    mark(entry, fd, CLOSE);
}

static void take_received(struct loop *loop, int fd, const struct io_uring_cqe *cqe) {
    if (cqe->flags & IORING_CQE_F_BUFFER)
        uring_give_back(&loop->uring, cqe->flags);
    if (cqe->res > 0)
        send_reply(loop, fd);
    /* All buffers may be in use for a moment; anything else without more is the end. */
    if (cqe->flags & IORING_CQE_F_MORE)
        return;
    if (cqe->res > 0 || cqe->res == -ENOBUFS)
        receive(loop, fd);
    else
        hang_up(loop, fd);
}

static void take(struct loop *loop, const struct io_uring_cqe *cqe) {
    int fd = (int)(cqe->user_data >> OPERATION_BITS);
    switch ((enum operation)(cqe->user_data & OPERATION_MASK)) {
    case ACCEPT:
        if (cqe->res >= 0)
            receive(loop, cqe->res);
        if (!(cqe->flags & IORING_CQE_F_MORE))
            accept_all(loop);
        break;
    case RECEIVE:
        take_received(loop, fd, cqe);
        break;
    default: /* a send that failed: receiving says why */
        break;
    }
}

static int run(const struct bare *bare) {
    struct loop loop = {.bare = bare};
    int error = uring_open(&loop.uring);
    if (error != 0)
        return error;
    accept_all(&loop);
    for (;;) {
        error = io_uring_submit_and_wait(&loop.uring.ring, 1);
        if (error < 0 && error != -EINTR)
            return error;
        struct io_uring_cqe *cqe;
        unsigned head, count = 0;
        io_uring_for_each_cqe(&loop.uring.ring, head, cqe) {
            take(&loop, cqe);
            count++;
        }
        io_uring_cq_advance(&loop.uring.ring, count);
    }
}

int main(int argc, char **argv) {
    static struct bare bare;
    int error = bare_open(&bare, argc, argv);
    if (error == 0)
        error = run(&bare);
    fprintf(stderr, "bare-uring: %s; usage: bare-uring HOST:PORT REPLY-FILE\n", strerror(-error));
    return EXIT_FAILURE;
}

#include "server/uring/submissions.h"

#include "base/clock.h"
#include "server/connection/close_connection.h"
#include "server/stop.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

static struct io_uring_sqe *next_submission(struct uring_loop *loop) {
    struct io_uring_sqe *entry = io_uring_get_sqe(&loop->uring.ring);
    if (entry == NULL) { /* the queue is full */
        int submitted = io_uring_submit(&loop->uring.ring);
        if (loop->uring.kind == RINGS_POLLED)
            submitted = io_uring_sqring_wait(&loop->uring.ring);
        entry = io_uring_get_sqe(&loop->uring.ring);
        if (entry == NULL) {
            loop->error = submitted < 0 ? submitted : -EBUSY;
            return &loop->discarded;
        }
    }
    return entry;
}

void uring_receive(struct uring_loop *loop, struct uring_connection *connection, bool once) {
    struct io_uring_sqe *entry = next_submission(loop);
    if (once || loop->reads_leftovers)
        io_uring_prep_recv(entry, connection->base.fd, NULL, BUFFER_BYTES,
                           loop->reads_leftovers ? MSG_DONTWAIT : 0);
    else
        io_uring_prep_recv_multishot(entry, connection->base.fd, NULL, 0, 0);
    entry->flags |= IOSQE_BUFFER_SELECT;
    entry->buf_group = BUFFER_GROUP;
    entry->user_data = user_data_of(connection, RECEIVE);
    connection->under_way |= RECEIVING;
}

/* With MSG_TRUNC, TCP copies nothing (tcp(7)). */
void uring_discard(struct uring_loop *loop, struct uring_connection *connection) {
    struct io_uring_sqe *entry = next_submission(loop);
    io_uring_prep_recv(entry, connection->base.fd, NULL, DISCARD_BYTES, MSG_TRUNC);
    entry->user_data = user_data_of(connection, RECEIVE);
    connection->under_way |= RECEIVING;
}

void uring_send(struct uring_loop *loop, struct uring_connection *connection, struct span out) {
    if (loop->uring.kind == RINGS_POLLED) {
        /* The server's own work must not count as idle time of its client. */
        connections_touch(&loop->base.connections, &connection->base, clock_monotonic_ns());
        uring_send_slowly(loop, connection, out);
        return;
    }
    struct io_uring_sqe *entry = next_submission(loop);
    io_uring_prep_send(entry, connection->base.fd, out.bytes, out.length,
                       MSG_NOSIGNAL | MSG_DONTWAIT | MSG_WAITALL);
    entry->flags |= IOSQE_CQE_SKIP_SUCCESS;
    entry->user_data = user_data_of(connection, SEND);
    connection->under_way |= 1 << SEND;
    connection->sent = (int)out.length;
    connection->next_sending = loop->sending;
    loop->sending = connection;
}

void uring_send_slowly(struct uring_loop *loop, struct uring_connection *connection,
                       struct span out) {
    struct io_uring_sqe *entry = next_submission(loop);
    io_uring_prep_send(entry, connection->base.fd, out.bytes, out.length, MSG_NOSIGNAL);
    entry->user_data = user_data_of(connection, SEND_SLOWLY);
    connection->under_way |= SENDING_SLOWLY;
}

void uring_cancel(struct uring_loop *loop, uint64_t user_data) {
    struct io_uring_sqe *entry = next_submission(loop);
    io_uring_prep_cancel64(entry, user_data, 0);
    entry->flags |= IOSQE_CQE_SKIP_SUCCESS;
    entry->user_data = CANCEL;
}

void uring_stop_receiving(struct uring_loop *loop, const struct uring_connection *connection) {
    if (connection->under_way & RECEIVING)
        uring_cancel(loop, user_data_of(connection, RECEIVE));
}

void uring_accept(struct uring_loop *loop) {
    struct io_uring_sqe *entry = next_submission(loop);
    io_uring_prep_multishot_accept(entry, loop->base.server->listener.drain_fd, NULL, NULL,
                                   SOCK_CLOEXEC);
    entry->user_data = loop->accepting = ACCEPT;
}

void uring_wait_for_clients(struct uring_loop *loop) {
    struct io_uring_sqe *entry = next_submission(loop);
    io_uring_prep_poll_add(entry, loop->base.server->listener.drain_fd, POLLIN);
    entry->user_data = loop->accepting = LISTEN;
}

void uring_watch_stop(struct uring_loop *loop) {
    struct io_uring_sqe *entry = next_submission(loop);
    io_uring_prep_poll_add(entry, stop_fd(), POLLIN);
    entry->user_data = STOP;
}

void uring_set_timer(struct uring_loop *loop) {
    const int64_t at_ns = connections_deadline_ns(&loop->base.connections);
    const int64_t set_ns = loop->deadline.tv_sec * (int64_t)NS_PER_S + loop->deadline.tv_nsec;
    if (at_ns == INT64_MAX || (loop->is_timing && at_ns >= set_ns))
        return;
    loop->deadline =
        (struct __kernel_timespec){.tv_sec = at_ns / NS_PER_S, .tv_nsec = at_ns % NS_PER_S};
    if (loop->is_timing) { /* a connection that leaves is closed earlier: its end sets it anew */
        uring_cancel(loop, TIMER);
        return;
    }
    struct io_uring_sqe *entry = next_submission(loop);
    io_uring_prep_timeout(entry, &loop->deadline, 0, IORING_TIMEOUT_ABS);
    entry->user_data = TIMER;
    loop->is_timing = true;
}

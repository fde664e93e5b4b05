#include "server/uring/connection.h"

#include "base/limits.h"
#include "server/connection/answer.h"
#include "server/connection/close_connection.h"
#include "server/connection/idle_timeout.h"
#include "server/connection/log.h"
#include "server/stop.h"
#include "server/uring/surplus.h"

#include <errno.h>

/* Bytes that a client may send ahead before its receive is cancelled. What arrives until then is
 * kept too: up to BUFFER_COUNT buffers on the oldest kernels, 32 since Linux 6.8. */
enum { SURPLUS_LIMIT = HEAD_LIMIT };

static bool is_sending_now(const struct uring_connection *connection) {
    return connection->under_way & 1 << SEND;
}

static void touch(struct uring_loop *loop, struct uring_connection *connection) {
    connections_touch(&loop->base.connections, &connection->base, loop->base.now_ns);
}

/* Closes the connection as soon as no operation is in flight and it is not queued. */
static void finish(struct uring_loop *loop, struct uring_connection *connection) {
    if (!connection->base.must_close) {
        connection->base.must_close = true;
        touch(loop, connection);
        uring_stop_receiving(loop, connection);
        if (connection->under_way & SENDING_SLOWLY)
            uring_cancel(loop, user_data_of(connection, SEND_SLOWLY));
    }
    if (connection->under_way != 0 || connection->base.is_queued) {
        loop->must_not_block |= is_sending_now(connection);
        return;
    }
    surplus_release(&connection->surplus);
    connections_remove(&loop->base.connections, &connection->base);
}

static void connection_lost(struct uring_loop *loop, struct uring_connection *connection) {
    answer_lost(loop->base.server, connection->base.fd, &connection->base.exchange);
    finish(loop, connection);
}

/* Whether there will be more to do once the output is sent. */
static bool has_more(const struct uring_connection *connection) {
    return !exchange_is_answered(&connection->base.exchange) || connection->surplus != NULL ||
           connection->base.peer_closed;
}

/* Whether input has, or may have, arrived that the exchange does not have yet: in the surplus, or
 * in completions not handled yet. */
static bool has_unread_input(const struct uring_loop *loop,
                             const struct uring_connection *connection) {
    const struct io_uring_cqe *completion;
    unsigned head;
    io_uring_for_each_cqe(&loop->uring.ring, head, completion) {
        if (completion->user_data == user_data_of(connection, RECEIVE) && completion->res > 0)
            return true;
    }
    return connection->surplus != NULL || io_uring_cq_has_overflow(&loop->uring.ring);
}

/* Everything is answered: closes it, unless its client may still be sending. */
static void end(struct uring_loop *loop, struct uring_connection *connection) {
    struct connection *base = &connection->base;
    base->exchange.is_refused |= has_unread_input(loop, connection);
    surplus_release(&connection->surplus);
    if (connection->base.peer_closed || !close_must_wait(base->fd, &base->exchange)) {
        finish(loop, connection);
        return;
    }
    connections_leave(&loop->base.connections, base, loop->base.now_ns);
    if (!(connection->under_way & RECEIVING))
        uring_discard(loop, connection);
}

/* What the client of a connection that is leaving has sent: bytes, 0 at its end, or -errno. */
static void discarded(struct uring_loop *loop, struct uring_connection *connection, int result) {
    bool is_retried = result == -ENOBUFS || result == -EINTR || result == -ECANCELED;
    connection->base.discard_left -= result > 0 ? result : 0;
    if ((result <= 0 && !is_retried) || connection->base.discard_left <= 0)
        finish(loop, connection);
    else if (!(connection->under_way & RECEIVING))
        uring_discard(loop, connection);
}

/* Answers what has arrived. Not to be called while a reply is being sent. was_partial: as in
 * idle_restarts. */
static void advance(struct uring_loop *loop, struct uring_connection *connection,
                    bool was_partial) {
    struct exchange *exchange = &connection->base.exchange;
    surplus_feed(&connection->surplus, exchange);
    if (connection->base.peer_closed && connection->surplus == NULL) {
        connection->base.peer_closed = false;
        exchange_received(exchange, 0);
    }
    if (stop_is_requested())
        exchange->has_unread_input = has_unread_input(loop, connection);
    unsigned answered = answer_requests(loop->base.server, connection->base.fd, exchange,
                                        REQUEST_BATCH, loop->base.now_ns);
    if (idle_restarts(was_partial, answered))
        touch(loop, connection);
    /* If there is more to do, uring_sent continues. */
    struct span out = exchange_output(exchange);
    if (out.length > 0)
        uring_send(loop, connection, out);
    if (out.length > 0 && has_more(connection))
        loop->must_not_block |= is_sending_now(connection);
    else if (exchange_is_done(exchange))
        end(loop, connection);
    else if (out.length == 0 && connection->surplus != NULL) /* empty lines were skipped */
        loop_serve_later(&loop->base, &connection->base);
    else if (!(connection->under_way & RECEIVING))
        uring_receive(loop, connection, exchange_is_partial(exchange));
}

void uring_received(struct uring_loop *loop, struct uring_connection *connection, int result,
                    uint32_t flags) {
    struct exchange *exchange = &connection->base.exchange;
    bool was_partial = exchange_is_partial(exchange), has_memory = true;
    bool was_late = connection->is_late;
    size_t ahead = surplus_length(connection->surplus);
    connection->is_late = false;
    if (!(flags & IORING_CQE_F_MORE))
        connection->under_way &= (uint8_t)~RECEIVING;
    if (result == -EAGAIN && loop->reads_leftovers)
        result = 0;
    if (flags & IORING_CQE_F_BUFFER) {
        if (result > 0 && !connection->base.must_close && !connection->base.is_leaving) {
            exchange->is_refused |= exchange->closing; /* bytes behind the last request */
            has_memory = surplus_keep(&connection->surplus, exchange,
                                      uring_buffer(&loop->uring, flags), (size_t)result);
        }
        uring_give_back(&loop->uring, flags);
    }
    if (connection->base.must_close) {
        finish(loop, connection);
    } else if (connection->base.is_leaving) {
        discarded(loop, connection, result);
    } else if (!has_memory ||
               (result < 0 && result != -ENOBUFS && result != -ECANCELED && result != -EINTR)) {
        connection_lost(loop, connection);
    } else if (was_late && result == -ECANCELED) {
        uring_time_out(loop, connection);
    } else {
        connection->base.peer_closed |= result == 0;
        loop->must_not_block |= is_sending_now(connection);
        if (!(connection->under_way & SENDING) && !connection->base.is_queued)
            advance(loop, connection, was_partial);
        else if (surplus_length(connection->surplus) / SURPLUS_LIMIT > ahead / SURPLUS_LIMIT)
            uring_stop_receiving(loop, connection); /* until they are answered */
    }
}

void uring_sent(struct uring_loop *loop, struct uring_connection *connection, int result) {
    struct exchange *exchange = &connection->base.exchange;
    bool is_slow = connection->under_way & SENDING_SLOWLY;
    connection->under_way &= (uint8_t)~SENDING;
    if (connection->base.must_close) {
        finish(loop, connection);
    } else if (result < 0 && result != -EAGAIN && result != -EINTR) {
        connection_lost(loop, connection);
    } else {
        exchange_sent(exchange, result > 0 ? (size_t)result : 0);
        struct span left = exchange_output(exchange);
        if (is_slow) /* otherwise the answer has just done so */
            touch(loop, connection);
        if (idle_reply_is_late(exchange, loop->base.server->options, loop->base.now_ns,
                               &connection->base.unsent_since_ns))
            uring_time_out(loop, connection);
        else if (left.length > 0)
            uring_send_slowly(loop, connection, left);
        else if (exchange_is_partial(exchange) || connection->surplus != NULL)
            loop_serve_later(&loop->base, &connection->base); /* other connections first */
        else if (has_more(connection) || !(connection->under_way & RECEIVING))
            advance(loop, connection, false);
    }
}

void uring_serve(struct uring_loop *loop, struct uring_connection *connection) {
    if (connection->base.must_close)
        finish(loop, connection);
    else
        advance(loop, connection, false);
}

void uring_time_out(struct uring_loop *loop, struct uring_connection *connection) {
    if (connection->base.is_leaving) {
        finish(loop, connection);
        return;
    }
    if (connection->base.must_close || connection->base.is_queued) /* queued: the server is slow */
        return;
    const bool is_unread =
        connection->under_way & SENDING || exchange_output(&connection->base.exchange).length > 0;
    if (!is_unread && has_unread_input(loop, connection))
        return;
    if (is_unread) { /* the client does not read; the kernel may have the output */
        answer_untaken(loop->base.server, connection->base.fd, &connection->base.exchange);
        finish(loop, connection);
    } else if (loop->uring.kind == RINGS_POLLED && connection->under_way & RECEIVING) {
        /* The kernel's thread may just be receiving. The end of that tells. */
        connection->is_late = true;
        uring_stop_receiving(loop, connection);
    } else {
        answer_timeout(loop->base.server, connection->base.fd, &connection->base.exchange);
        advance(loop, connection, false);
    }
}

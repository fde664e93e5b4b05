#include "server/loops/turn.h"

#include "base/hot.h"
#include "base/limits.h"
#include "server/connection/answer.h"
#include "server/connection/close_connection.h"
#include "server/connection/idle_timeout.h"

#include <errno.h>
#include <sys/socket.h>

HOT int turn_receive(struct connection *connection) {
    struct exchange *exchange = &connection->exchange;
    struct span space = connection->can_read ? exchange_space(exchange) : (struct span){NULL, 0};
    if (space.length == 0)
        return 0;
    ssize_t got = recv(connection->fd, space.bytes, space.length, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        connection->can_read = false;
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    exchange_received(exchange, (size_t)got);
    /* A short read means that the socket is empty (epoll(7)), except for the end of the stream. */
    if (got == 0 || ((size_t)got < space.length && !connection->peer_closed))
        connection->can_read = false;
    return 0;
}

HOT int turn_send(struct connection *connection) {
    struct exchange *exchange = &connection->exchange;
    for (struct span out; (out = exchange_output(exchange)).length > 0;) {
        ssize_t sent = send(connection->fd, out.bytes, out.length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0)
            exchange_sent(exchange, (size_t)sent);
        else if (errno != EINTR)
            return -errno;
    }
    connection->unsent_since_ns = 0; /* all was taken; what is answered next has its own time */
    return 0;
}

static enum next connection_lost(struct loop *loop, struct connection *connection) {
    answer_lost(loop->server, connection->fd, &connection->exchange);
    return NEXT_CLOSE;
}

HOT enum next turn_next(struct loop *loop, struct connection *connection, int sent) {
    struct exchange *exchange = &connection->exchange;
    if (sent != 0 && sent != -EAGAIN)
        return connection_lost(loop, connection);
    if (idle_reply_is_late(exchange, loop->server->options, loop->now_ns,
                           &connection->unsent_since_ns))
        return turn_time_out(loop, connection);
    if (sent == -EAGAIN)
        return NEXT_WRITE;
    if (exchange_is_done(exchange))
        return NEXT_CLOSE;
    return connection->can_read ? NEXT_TURN : NEXT_READ;
}

HOT struct turn_outcome turn_exchange(struct server *server, struct connection *connection,
                                      int64_t now_ns) {
    struct exchange *exchange = &connection->exchange;
    struct turn_outcome outcome = {.was_partial = exchange_is_partial(exchange),
                                   .was_held_back = exchange_output(exchange).length > 0};
    outcome.received = turn_receive(connection);
    if (outcome.received != 0)
        return outcome;
    outcome.answered = answer_requests(server, connection->fd, exchange, REQUEST_BATCH, now_ns);
    outcome.sent = turn_send(connection);
    return outcome;
}

HOT enum next turn_end(struct loop *loop, struct connection *connection,
                       struct turn_outcome outcome) {
    if (outcome.received != 0)
        return connection_lost(loop, connection);
    if (idle_restarts(outcome.was_partial, outcome.answered))
        connections_touch(&loop->connections, connection, loop->now_ns);
    /* Other connections first. Sending held-back output made room for requests that have already
     * been read: no event would announce them. */
    if (outcome.sent == 0 && (outcome.answered > 0 || outcome.was_held_back) &&
        exchange_is_partial(&connection->exchange))
        return NEXT_TURN;
    return turn_next(loop, connection, outcome.sent);
}

HOT enum next turn_serve(struct loop *loop, struct connection *connection) {
    return turn_end(loop, connection, turn_exchange(loop->server, connection, loop->now_ns));
}

enum next turn_discard(struct connection *connection) {
    int result = close_discard(connection->fd, &connection->discard_left);
    return result < 0 ? NEXT_CLOSE : result > 0 ? NEXT_TURN : NEXT_READ;
}

enum next turn_time_out(struct loop *loop, struct connection *connection) {
    answer_timeout(loop->server, connection->fd, &connection->exchange);
    int sent = turn_send(connection);
    return sent == 0 ? NEXT_CLOSE : connection_lost(loop, connection);
}

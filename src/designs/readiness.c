#include "designs/readiness.h"

#include "base/hot.h"
#include "base/limits.h"
#include "server/answer.h"

#include <errno.h>
#include <sys/socket.h>

HOT int readiness_receive(struct connection *connection) {
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
    /* Less than there was room for: that was all (epoll(7)), except for the end of it. */
    if (got == 0 || ((size_t)got < space.length && !connection->is_shut))
        connection->can_read = false;
    return 0;
}

HOT int readiness_send(struct connection *connection) {
    struct exchange *exchange = &connection->exchange;
    for (struct span out; (out = exchange_output(exchange)).length > 0;) {
        ssize_t sent = send(connection->fd, out.bytes, out.length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0)
            exchange_sent(exchange, (size_t)sent);
        else if (errno != EINTR)
            return -errno;
    }
    return 0;
}

static enum interest lose(struct server *server, struct connection *connection) {
    answer_lost(server, connection->fd, &connection->exchange);
    return INTEREST_NONE;
}

HOT enum interest readiness_next(struct server *server, struct connection *connection, int sent) {
    if (sent == -EAGAIN)
        return INTEREST_WRITE;
    if (sent != 0)
        return lose(server, connection);
    if (exchange_is_done(&connection->exchange))
        return INTEREST_NONE;
    return connection->can_read ? INTEREST_AGAIN : INTEREST_READ;
}

HOT enum interest readiness_serve(struct server *server, struct connections *connections,
                                  struct connection *connection, int64_t now_ns) {
    struct exchange *exchange = &connection->exchange;
    bool was_partial = exchange_is_partial(exchange);
    bool was_held_back = exchange_output(exchange).length > 0;
    if (readiness_receive(connection) != 0)
        return lose(server, connection);
    unsigned answered = answer_requests(server, connection->fd, exchange, REQUEST_BATCH);
    int sent = readiness_send(connection);
    if (!was_partial || answered > 0)
        connections_touch(connections, connection, now_ns);
    /* Others first; there is room to write, so this one's turn comes again at once. So it does when
     * all went that requests may have waited behind: nothing else would speak of them again. */
    if (sent == 0 && (answered > 0 || was_held_back) && exchange_is_partial(exchange))
        return INTEREST_AGAIN;
    return readiness_next(server, connection, sent);
}

enum interest readiness_time_out(struct server *server, struct connection *connection) {
    answer_timeout(server, connection->fd, &connection->exchange);
    int sent = readiness_send(connection);
    return sent == 0 ? INTEREST_NONE : lose(server, connection);
}

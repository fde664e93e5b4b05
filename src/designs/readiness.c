#include "designs/readiness.h"

#include "base/clock.h"
#include "base/limits.h"
#include "server/answer.h"

#include <errno.h>

int readiness_accept(struct server *server, const struct connections *connections) {
    int fd;
    while ((fd = listener_accept(server)) >= 0) {
        if (connections->count < server->options->max_connections)
            return fd;
        listener_refuse(server, fd);
    }
    return fd;
}

/* Sends as much as there is room for. Returns 0, -EAGAIN if some is left, or another -errno. */
static int send_output(struct connection *connection) {
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

/* What to wait for after everything was done that can be done now. */
static enum interest wait_for(struct server *server, struct connection *connection, int sent) {
    if (sent == -EAGAIN)
        return INTEREST_WRITE;
    if (sent != 0)
        return lose(server, connection);
    return exchange_is_done(&connection->exchange) ? INTEREST_NONE : INTEREST_READ;
}

enum interest readiness_serve(struct server *server, struct connections *connections,
                              struct connection *connection, bool can_read) {
    struct exchange *exchange = &connection->exchange;
    bool was_partial = exchange_is_partial(exchange);
    struct span space = can_read ? exchange_space(exchange) : (struct span){NULL, 0};
    if (space.length > 0) {
        ssize_t got = recv(connection->fd, space.bytes, space.length, MSG_DONTWAIT);
        if (got >= 0)
            exchange_received(exchange, (size_t)got);
        else if (errno != EAGAIN && errno != EINTR)
            return lose(server, connection);
    }
    unsigned answered = answer_requests(server, connection->fd, exchange, REQUEST_BATCH);
    int sent = send_output(connection);
    if (!was_partial || answered > 0)
        connections_touch(connections, connection, clock_monotonic_ns());
    /* Others first; there is room to write, so this one's turn comes again at once. */
    if (sent == 0 && answered > 0 && exchange_is_partial(exchange))
        return INTEREST_WRITE;
    return wait_for(server, connection, sent);
}

enum interest readiness_time_out(struct server *server, struct connection *connection) {
    answer_timeout(server, connection->fd, &connection->exchange);
    int sent = send_output(connection);
    return sent == 0 ? INTEREST_NONE : lose(server, connection);
}

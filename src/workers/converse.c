#include "workers/converse.h"

#include "base/clock.h"
#include "base/hot.h"
#include "base/limits.h"
#include "server/answer.h"
#include "server/close_connection.h"
#include "server/idle_timeout.h"
#include "server/log.h"
#include "server/stop.h"

#include <errno.h>

/* After a send that was short: it has waited for --idle-timeout. */
static bool is_late(const struct server *server, const struct exchange *exchange,
                    int64_t *begun_ns) {
    int64_t now_ns = clock_monotonic_ns();
    if (*begun_ns == 0)
        *begun_ns = now_ns - server->options->idle_timeout_ms * NS_PER_MS;
    return idle_reply_is_late(exchange, server->options, now_ns, begun_ns);
}

/* Sends everything that waits, or drops it if it is taken too slowly. Returns 0 or -errno. */
HOT static int send_output(struct server *server, int fd, struct exchange *exchange) {
    int64_t begun_ns = 0;
    for (struct span out; (out = exchange_output(exchange)).length > 0;) {
        ssize_t sent = send(fd, out.bytes, out.length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno != EAGAIN)
            return -errno;
        if (sent > 0)
            exchange_sent(exchange, (size_t)sent);
        if (sent < 0 || ((size_t)sent < out.length && is_late(server, exchange, &begun_ns)))
            answer_timeout(server, fd, exchange);
    }
    return 0;
}

/* One read, and the answers to all that is complete then: what is begun after those has its
 * own time (*begun_ns is 0 then). Returns 0 or -errno. */
HOT static int take_turn(struct server *server, int fd, struct exchange *exchange,
                         int64_t *begun_ns) {
    struct span space = exchange_space(exchange);
    if (space.length == 0)
        return 0; /* no memory: the exchange is closing */
    ssize_t got = recv(fd, space.bytes, space.length, 0);
    if (got < 0 && errno == EINTR)
        return 0;
    if (got < 0 && errno == EAGAIN) {
        answer_timeout(server, fd, exchange);
        return send_output(server, fd, exchange);
    }
    if (got < 0)
        return -errno;
    exchange_received(exchange, (size_t)got);
    while (answer_requests(server, fd, exchange, REQUEST_BATCH, 0) > 0) {
        int error = send_output(server, fd, exchange);
        if (error != 0)
            return error;
        *begun_ns = 0;
    }
    return 0;
}

HOT bool converse(struct server *server, int fd) {
    struct lent_buffers lent;
    struct buffers buffers = {.lent = &lent, .budget = server->budget};
    struct exchange exchange;
    int64_t begun_ns = 0;
    int error = 0;
    exchange_open(&exchange, &buffers);
    exchange_admit(&exchange, &server->options->access.admission);
    stats_add(&server->counts->connections);
    while (error == 0 && !exchange_is_done(&exchange)) {
        error = take_turn(server, fd, &exchange, &begun_ns);
        if (error == 0 && idle_request_is_late(&exchange, server->options, &begun_ns)) {
            answer_timeout(server, fd, &exchange);
            error = send_output(server, fd, &exchange);
        }
    }
    if (error != 0)
        answer_lost(server, fd, &exchange);
    exchange_close(&exchange);
    buffers_close(&buffers);
    return exchange.is_refused;
}

void converse_alone(struct server *server, int fd) {
    stats_add(&server->counts->open);
    converse_uncounted(server, fd);
    stats_subtract(&server->counts->open);
}

HOT void converse_uncounted(struct server *server, int fd) {
    stop_interrupts(fd);
    bool is_refused = converse(server, fd);
    stop_interrupts(-1);
    log_end(server, fd);
    close_connection(fd, is_refused);
}

#include "server/workers/serve_client.h"

#include "base/clock.h"
#include "base/hot.h"
#include "base/limits.h"
#include "server/connection/answer.h"
#include "server/connection/close_connection.h"
#include "server/connection/idle_timeout.h"
#include "server/connection/log.h"
#include "server/stop.h"

#include <errno.h>
#include <unistd.h>

/* Call after a short send: it has blocked for --idle-timeout. */
static bool is_late(const struct server *server, const struct exchange *exchange,
                    int64_t *begun_ns) {
    int64_t now_ns = clock_monotonic_ns();
    if (*begun_ns == 0)
        *begun_ns = now_ns - server->options->idle_timeout_ms * NS_PER_MS;
    return idle_reply_is_late(exchange, server->options, now_ns, begun_ns);
}

HOT static int send_all(struct server *server, int fd, struct exchange *exchange) {
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

/* Sends the whole output, or drops it if the client reads too slowly. Returns 0 or -errno. */
HOT static int send_output(struct server *server, int fd, struct exchange *exchange) {
    _Atomic uint64_t *share =
        exchange->budgeted > 0
            ? output_shares_take(&server->shares, server->stats, exchange->budgeted)
            : NULL;
    int error = send_all(server, fd, exchange);
    output_shares_release(share);
    return error;
}

/* Reads once and answers all complete requests. After an answer *begun_ns is 0: the next request
 * has its own time limit. Returns 0 or -errno. */
HOT static int take_turn(struct server *server, int fd, struct exchange *exchange,
                         int64_t *begun_ns) {
    struct span space = exchange_space(exchange);
    if (space.length == 0)
        return 0; /* memory ran out: the exchange is closing */
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
    while (exchange_is_partial(exchange) &&
           answer_requests(server, fd, exchange, REQUEST_BATCH, 0) > 0) {
        int error = send_output(server, fd, exchange);
        if (error != 0)
            return error;
        *begun_ns = 0;
    }
    return 0;
}

HOT void serve_connection(struct server *server, int fd) {
    struct preallocated_buffers preallocated;
    struct buffer_pool buffers = {.preallocated = &preallocated, .budget = server->budget};
    struct exchange exchange;
    int64_t begun_ns = 0;
    int error = 0;
    exchange_open(&exchange, &buffers, &server->options->access.admission);
    stats_add(&server->counts->connections);
    while (error == 0 && !exchange_is_done(&exchange)) {
        error = take_turn(server, fd, &exchange, &begun_ns);
        if (error == 0 && idle_request_is_late(&exchange, server->options, &begun_ns) &&
            !idle_input_waits(fd)) {
            answer_timeout(server, fd, &exchange);
            error = send_output(server, fd, &exchange);
        }
    }
    if (error != 0)
        answer_lost(server, fd, &exchange);
    exchange_close(&exchange);
    buffer_pool_close(&buffers);
    close_wait(fd, &exchange);
}

void serve_client(struct server *server, int fd) {
    stats_add(&server->counts->open);
    serve_client_uncounted(server, fd);
    stats_subtract(&server->counts->open);
}

HOT void serve_client_uncounted(struct server *server, int fd) {
    stop_interrupts(fd);
    serve_connection(server, fd);
    stop_interrupts(-1);
    log_disconnect(server, fd);
    close(fd);
}

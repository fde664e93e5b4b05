#include "server/connection/answer.h"

#include "base/clock.h"
#include "base/hot.h"
#include "base/limits.h"
#include "server/connection/log.h"
#include "server/metrics/metrics.h"
#include "server/stop.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

static enum error_kind kind_of(enum status status) {
    switch (status) {
    case STATUS_UNAUTHORIZED:
    case STATUS_MISDIRECTED:
        return ERROR_DENIED;
    case STATUS_NOT_FOUND:
        return ERROR_NOT_FOUND;
    case STATUS_TIMEOUT:
        return ERROR_TIMEOUT;
    case STATUS_URI_TOO_LONG:
    case STATUS_HEAD_TOO_LARGE:
        return ERROR_TOO_LONG;
    case STATUS_UNAVAILABLE:
        return ERROR_UNAVAILABLE;
    default:
        return ERROR_MALFORMED;
    }
}

static void note_error(const struct server *server, int fd, const struct request *request,
                       enum status status) {
    stats_add(&server->stats->errors[kind_of(status)]);
    if (!request->is_guess)
        return;
    stats_add(&server->stats->wrong_tokens);
    guesses_add_peer(server->guesses, fd);
}

/* The reply is in the exchange, ready to be sent. */
HOT static void note(struct server *server, int fd, const struct exchange *exchange,
                     const struct request *request, enum status status) {
    stats_add_reply(server->counts, status, exchange->dialect);
    if (status != STATUS_OK)
        note_error(server, fd, request, status);
    log_answer(server, fd, request, status);
}

/* After a stop, the last reply to what has arrived says that the connection ends, so that the
 * client sends no request that would be lost. Not the reply to a token: the request that follows it
 * is still to come. */
static void end_after_stop(int fd, struct exchange *exchange, const struct request *request) {
    char next;
    if (request->kind != REQUEST_AUTH && recv(fd, &next, 1, MSG_PEEK | MSG_DONTWAIT) <= 0)
        exchange_make_last(exchange);
}

void answer_reply(struct server *server, int fd, struct exchange *exchange,
                  const struct request *request, enum status status, const struct text *body) {
    if (stop_is_requested())
        end_after_stop(fd, exchange, request);
    exchange_reply(exchange, request, status, body);
    note(server, fd, exchange, request, status);
}

/* Refusals and health checks are small. */
static bool may_be_large(const struct request *request) {
    return request->kind == REQUEST_TOP || request->kind == REQUEST_METRICS;
}

/* Of this process, or of all. */
static bool is_output_spent(const struct server *server) {
    return output_budget_is_spent(server->budget) ||
           output_shares_reach(&server->shares, server->stats, server->budget->limit);
}

HOT enum status answer_body(const struct server *server, const struct request *request,
                            struct text *body) {
    static const struct request shed = {
        .kind = REQUEST_INVALID,
        .status = STATUS_UNAVAILABLE,
        .problem = "too many replies wait for slow clients; ask again later"};
    if (may_be_large(request) && is_output_spent(server))
        request = &shed;
    if (request->kind != REQUEST_METRICS)
        return service_answer(server->service, request, body);
    metrics_write(server, request->format, body);
    return STATUS_OK;
}

/* The body is written straight into the output buffer: a buffer of REPLY_LIMIT on the stack would
 * make each new thread touch a page at its far end. */
HOT static void answer(struct server *server, int fd, struct exchange *exchange,
                       const struct request *request) {
    enum status status = answer_body(server, request, exchange_begin_reply(exchange));
    if (stop_is_requested())
        end_after_stop(fd, exchange, request);
    exchange_end_reply(exchange, request, status);
    note(server, fd, exchange, request, status);
}

HOT bool answer_next(const struct server *server, int fd, struct exchange *exchange,
                     struct request *request) {
    if (!exchange_next(exchange, request))
        return false;
    log_request(server, fd, request);
    return true;
}

/* The clock is read only if more requests arrived with this one. */
HOT unsigned answer_requests(struct server *server, int fd, struct exchange *exchange,
                             unsigned limit, int64_t waiting_ns) {
    struct request request;
    unsigned count = 0;
    bool is_last = false;
    while (!is_last && count < limit && answer_next(server, fd, exchange, &request)) {
        is_last = exchange_is_answered(exchange);
        if (!is_last && waiting_ns == 0)
            waiting_ns = clock_monotonic_ns();
        request.asked_ns = waiting_ns;
        answer(server, fd, exchange, &request);
        count++;
        if (!is_last && clock_monotonic_ns() - waiting_ns > TURN_US * NS_PER_US)
            break;
    }
    return count;
}

/* Whether replies are left here, or in the kernel because the client does not read. */
static bool is_owed(int fd, const struct exchange *exchange) {
    struct tcp_info info = {.tcpi_notsent_bytes = 0};
    socklen_t length = sizeof info;
    return exchange_output(exchange).length > 0 ||
           (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
            info.tcpi_notsent_bytes > 0);
}

void answer_reset(int fd, const struct exchange *exchange) {
    const struct linger not_at_all = {.l_onoff = 1};
    if (is_owed(fd, exchange))
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &not_at_all, sizeof not_at_all);
}

void answer_untaken(struct server *server, int fd, const struct exchange *exchange) {
    answer_reset(fd, exchange);
    stats_add(&server->stats->errors[ERROR_TIMEOUT]);
    log_connection(server, fd, "took its replies too slowly");
}

void answer_timeout(struct server *server, int fd, struct exchange *exchange) {
    struct request request;
    bool is_untaken = exchange_output(exchange).length > 0;
    if (is_untaken)
        answer_untaken(server, fd, exchange);
    else
        answer_reset(fd, exchange);
    if (exchange_time_out(exchange, &request)) {
        answer(server, fd, exchange, &request);
    } else if (!is_untaken) {
        /* An idle keep-alive connection is no error. */
        if (exchange->dialect == DIALECT_UNKNOWN)
            stats_add(&server->stats->errors[ERROR_TIMEOUT]);
        log_connection(server, fd, "idle for too long");
    }
}

void answer_lost(struct server *server, int fd, const struct exchange *exchange) {
    answer_reset(fd, exchange);
    if (!exchange_is_idle(exchange))
        stats_add(&server->stats->errors[ERROR_DISCONNECTED]);
    log_connection(server, fd, "lost");
}

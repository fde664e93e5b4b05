#include "server/answer.h"

#include "base/limits.h"
#include "server/log.h"
#include "server/metrics.h"

#include <assert.h>

static enum error_kind kind_of(enum status status) {
    switch (status) {
    case STATUS_UNAUTHORIZED:
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

void answer_reply(struct server *server, int fd, struct exchange *exchange,
                  const struct request *request, enum status status, const struct text *body) {
    assert(!body->overflow); /* REPLY_LIMIT is more than the worst of names can fill */
    exchange_reply(exchange, request, status, body);
    stats_add_reply(server->counts, status, exchange->dialect);
    if (status != STATUS_OK)
        stats_add(&server->stats->errors[kind_of(status)]);
    log_request(server, fd, request, status);
}

enum status answer_body(const struct server *server, const struct request *request,
                        struct text *body) {
    enum status status = service_answer(server->service, request, body);
    if (request->kind == REQUEST_METRICS)
        server_metrics(server, request->format, body);
    return status;
}

static void answer(struct server *server, int fd, struct exchange *exchange,
                   const struct request *request) {
    char space[REPLY_LIMIT];
    struct text body = text_fixed(space, sizeof space);
    enum status status = answer_body(server, request, &body);
    answer_reply(server, fd, exchange, request, status, &body);
}

unsigned answer_requests(struct server *server, int fd, struct exchange *exchange, unsigned limit) {
    struct request request;
    unsigned count = 0;
    for (; count < limit && exchange_next(exchange, &request); count++)
        answer(server, fd, exchange, &request);
    return count;
}

void answer_timeout(struct server *server, int fd, struct exchange *exchange) {
    struct request request;
    if (exchange_time_out(exchange, &request)) {
        answer(server, fd, exchange, &request);
    } else {
        /* That a client keeps a connection open which it has used is no error. */
        if (exchange->dialect == DIALECT_UNKNOWN)
            stats_add(&server->stats->errors[ERROR_TIMEOUT]);
        log_connection(server, fd, "silent for too long");
    }
}

void answer_lost(struct server *server, int fd, const struct exchange *exchange) {
    if (!exchange_is_idle(exchange))
        stats_add(&server->stats->errors[ERROR_DISCONNECTED]);
    log_connection(server, fd, "lost");
}

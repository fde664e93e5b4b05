/* Replies: the body is rendered in the output itself; the head, which contains the body's length,
 * is then written into the room left before it. */
#include "service/exchange/exchange.h"

#include "base/hot.h"
#include "service/exchange/exchange_internal.h"

#include <assert.h>
#include <string.h>

HOT struct text *exchange_begin_reply(struct exchange *exchange) {
    struct text *out = &exchange->output;
    if (out->bytes == NULL) {
        struct buffer buffer = buffer_pool_get(exchange->pool);
        out->bytes = buffer.bytes;
        out->capacity = buffer.capacity;
        out->is_owned = !buffer_pool_is_preallocated(exchange->pool, buffer.bytes);
    }
    exchange->reply_from = out->length;
    if (text_reserve(out, HTTP_REPLY_HEAD_LIMIT))
        out->length += HTTP_REPLY_HEAD_LIMIT;
    return out;
}

/* Writes what precedes the body. Returns its start. */
HOT static char *put_head(const struct exchange *exchange, const struct request *request,
                          enum status status, char *body, uint32_t body_length) {
    static const char error[] = "error: ";
    if (exchange->dialect == DIALECT_HTTP) {
        const char *connection = !exchange->keep_alive            ? "close"
                                 : exchange->announces_keep_alive ? "keep-alive"
                                                                  : NULL;
        return http_put_reply_head(body, request, status, body_length, connection);
    }
    if (status == STATUS_OK)
        return body;
    return memcpy(body - (sizeof error - 1), error, sizeof error - 1);
}

/* A head is shorter than the room left for it. Skips the gap; only if earlier replies are waiting
 * must the reply move. */
HOT static void close_gap(struct exchange *exchange, const char *reply) {
    struct text *out = &exchange->output;
    char *place = out->bytes + exchange->reply_from;
    const uint32_t gap = (uint32_t)(reply - place);
    if (exchange->reply_from == 0) {
        exchange->output_sent = gap;
    } else {
        out->length -= gap;
        memmove(place, reply, (size_t)(out->bytes + out->length - place));
    }
}

/* Whether the budget counts the output (output_budget.h). Its capacity may exceed what waits in it:
 * a HEAD request renders a body only for its length, and a lost reply or a pooled buffer's former
 * reply leaves its memory. */
HOT static bool is_counted(const struct exchange *exchange) {
    const struct text *out = &exchange->output;
    return out->length > BUFFER_FIRST_BYTES || out->capacity > BUFFER_KEPT_BYTES ||
           (out->capacity > BUFFER_FIRST_BYTES && exchange->pool->in_use > BUFFERS_KEPT);
}

HOT void exchange_end_reply(struct exchange *exchange, const struct request *request,
                            enum status status) {
    struct text *out = &exchange->output;
    const uint32_t body_from = exchange->reply_from + HTTP_REPLY_HEAD_LIMIT;
    const bool is_http = exchange->dialect == DIALECT_HTTP;
    assert(out->overflow || out->length - body_from <= REPLY_LIMIT);
    if (!is_http)
        text_add(out, "\n", 1);
    const bool is_lost = out->overflow; /* memory ran out */
    out->overflow = false;
    if (is_lost) {
        out->length = exchange->reply_from;
    } else {
        const uint32_t body_length = out->length - body_from;
        if (is_http && exchange->is_head_request)
            out->length = body_from;
        close_gap(exchange,
                  put_head(exchange, request, status, out->bytes + body_from, body_length));
    }
    if (is_counted(exchange))
        output_budget_set(exchange->pool->budget, &exchange->budgeted, out->capacity);
    /* A client would take the next reply for the lost one, so no reply may follow. */
    if (!exchange->keep_alive || is_lost) {
        exchange->closing = true;
        exchange->ends_with_reply = true;
        exchange->is_refused |=
            request->kind == REQUEST_INVALID || exchange_pending_input(exchange).length > 0;
        exchange_drop_input(exchange);
    }
}

void exchange_make_last(struct exchange *exchange) {
    if (exchange->has_unread_input || exchange_pending_input(exchange).length > 0)
        return;
    exchange->keep_alive = false;
    exchange->is_refused = true; /* the client may have sent more since */
}

void exchange_reply(struct exchange *exchange, const struct request *request, enum status status,
                    const struct text *body) {
    struct text *out = exchange_begin_reply(exchange);
    if (body->overflow)
        out->overflow = true;
    else
        text_add(out, body->bytes, body->length);
    exchange_end_reply(exchange, request, status);
}

#define REFUSAL(status, length, problem)                                                           \
    "HTTP/1.1 " status "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " length    \
    "\r\nConnection: close\r\n\r\nerror: " problem "\n\n"

struct span exchange_refusal(enum refusal refusal) {
    static char full[] = REFUSAL("503 Service Unavailable", "27", "the server is full");
    static char address[] = REFUSAL("403 Forbidden", "36", "this address is not allowed");
    static char guesses[] =
        REFUSAL("429 Too Many Requests", "48", "too many wrong tokens from this address");
    static const struct span spans[REFUSALS] = {[REFUSED_FULL] = {full, sizeof full - 1},
                                                [REFUSED_ADDRESS] = {address, sizeof address - 1},
                                                [REFUSED_GUESSES] = {guesses, sizeof guesses - 1}};
    return spans[refusal];
}

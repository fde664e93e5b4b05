/* Replies: a body is rendered where it is sent from; the head, which needs its length, is then
 * put before it. */
#include "exchange/exchange.h"

#include "base/hot.h"
#include "exchange/state.h"

#include <assert.h>
#include <string.h>

HOT struct text *exchange_begin_reply(struct exchange *exchange) {
    struct text *out = &exchange->output;
    if (out->bytes == NULL) {
        struct buffer buffer = buffers_take(exchange->buffers);
        out->bytes = buffer.bytes;
        out->capacity = buffer.capacity;
        out->is_owned = !buffers_is_lent(exchange->buffers, buffer.bytes);
    }
    exchange->reply_from = out->length;
    if (text_reserve(out, HTTP_REPLY_HEAD_LIMIT))
        out->length += HTTP_REPLY_HEAD_LIMIT;
    return out;
}

/* Writes what precedes the body; returns where that begins. */
HOT static char *put_head(const struct exchange *exchange, const struct request *request,
                          enum status status, char *body, uint32_t body_length) {
    static const char error[] = "error: ";
    if (exchange->dialect == DIALECT_HTTP) {
        const char *connection = !exchange->keeps_open ? "close"
                                 : exchange->says_keep ? "keep-alive"
                                                       : NULL;
        return http_put_reply_head(body, request, status, body_length, connection);
    }
    if (status == STATUS_OK)
        return body;
    return memcpy(body - (sizeof error - 1), error, sizeof error - 1);
}

/* Closes the gap that a head shorter than its room leaves. Nothing moves unless other replies
 * are waiting before this one. */
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

/* Whether the output is more than an ordinary reply needs (output_budget.h). Its memory may be
 * larger than what waits in it: HEAD made a body for its length only, a lost reply leaves its
 * room, and so does the reply that the buffer was kept from. */
HOT static bool is_counted(const struct exchange *exchange) {
    const struct text *out = &exchange->output;
    return out->length > BUFFER_FIRST_BYTES || out->capacity > BUFFER_KEPT_BYTES ||
           (out->capacity > BUFFER_FIRST_BYTES && exchange->buffers->in_use > BUFFERS_KEPT);
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
        if (is_http && exchange->is_head)
            out->length = body_from;
        close_gap(exchange,
                  put_head(exchange, request, status, out->bytes + body_from, body_length));
    }
    if (is_counted(exchange))
        output_budget_hold(exchange->buffers->budget, &exchange->held, out->capacity);
    /* A client would take the next reply for a lost one: after a loss, the replies before it are
     * the last. */
    if (!exchange->keeps_open || is_lost) {
        exchange->closing = true;
        exchange->is_refused |= request->kind == REQUEST_INVALID;
        exchange_drop_input(exchange);
    }
}

void exchange_make_last(struct exchange *exchange) {
    if (exchange->is_followed || exchange_waiting(exchange).length > 0)
        return;
    exchange->keeps_open = false;
    exchange->is_refused = true; /* the client may have sent more by now */
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
        REFUSAL("429 Too Many Requests", "53", "too many wrong tokens came from this address");
    static const struct span spans[REFUSALS] = {[REFUSED_FULL] = {full, sizeof full - 1},
                                                [REFUSED_ADDRESS] = {address, sizeof address - 1},
                                                [REFUSED_GUESSES] = {guesses, sizeof guesses - 1}};
    return spans[refusal];
}

#include "exchange/exchange.h"

#include "base/hot.h"
#include "base/limits.h"
#include "base/number.h"
#include "exchange/http.h"
#include "exchange/line.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Room that a reply may need: its head, and its body. */
enum { REPLY_HEAD_ROOM = 512, REPLY_ROOM = REPLY_HEAD_ROOM + REPLY_LIMIT };

static_assert((int)BUFFER_KEPT_BYTES <= (int)HEAD_LIMIT, "no input is larger than a head may be");

HOT void exchange_open(struct exchange *exchange, struct buffers *buffers) {
    *exchange = (struct exchange){.buffers = buffers, .output = text_growing(OUTPUT_LIMIT)};
}

static void release_input(struct exchange *exchange) {
    buffers_give(exchange->buffers, (struct buffer){exchange->input, exchange->input_capacity});
    exchange->input = NULL;
    exchange->input_capacity = exchange->input_from = exchange->input_to = 0;
}

static void release_output(struct exchange *exchange) {
    buffers_give(exchange->buffers,
                 (struct buffer){exchange->output.bytes, exchange->output.capacity});
    exchange->output = text_growing(OUTPUT_LIMIT);
    exchange->output_sent = 0;
}

void exchange_ask_token(struct exchange *exchange, const struct token *token) {
    exchange->token = token;
}

HOT void exchange_close(struct exchange *exchange) {
    release_input(exchange);
    release_output(exchange);
}

static uint32_t waiting_input(const struct exchange *exchange) {
    return exchange->input_to - exchange->input_from;
}

/* Makes room for more input, where there may be more. Returns false if no memory is left. */
static bool make_room(struct exchange *exchange) {
    if (exchange->input == NULL) {
        struct buffer buffer = buffers_take(exchange->buffers);
        exchange->input = buffer.bytes;
        exchange->input_capacity = buffer.capacity;
    } else if (exchange->input_from > 0) {
        memmove(exchange->input, exchange->input + exchange->input_from, waiting_input(exchange));
        exchange->input_to -= exchange->input_from;
        exchange->input_from = 0;
    } else if (exchange->input_to == exchange->input_capacity &&
               exchange->input_capacity < HEAD_LIMIT) {
        char *larger =
            buffers_grow(exchange->buffers, exchange->input, exchange->input_to, HEAD_LIMIT);
        if (larger == NULL)
            return false;
        exchange->input = larger;
        exchange->input_capacity = HEAD_LIMIT;
    }
    return exchange->input != NULL;
}

HOT struct span exchange_space(struct exchange *exchange) {
    if (exchange->closing || exchange->ended || exchange->output.length > 0)
        return (struct span){NULL, 0};
    if (!make_room(exchange)) {
        exchange->closing = true;
        return (struct span){NULL, 0};
    }
    return (struct span){exchange->input + exchange->input_to,
                         exchange->input_capacity - exchange->input_to};
}

HOT void exchange_received(struct exchange *exchange, size_t length) {
    assert(length <= exchange->input_capacity - exchange->input_to);
    if (length == 0)
        exchange->ended = true;
    exchange->input_to += (uint32_t)length;
}

static void consume(struct exchange *exchange, size_t length) {
    exchange->input_from += (uint32_t)length;
    if (waiting_input(exchange) == 0)
        release_input(exchange);
}

/* Invalid, and the last: what follows on this connection is dropped. */
static bool refuse(struct exchange *exchange, enum status status, const char *problem,
                   struct request *request) {
    *request = (struct request){.kind = REQUEST_INVALID, .status = status, .problem = problem};
    exchange->is_head = exchange->keeps_open = exchange->says_keep = false;
    exchange->closing = exchange->is_refused = true;
    release_input(exchange);
    return true;
}

/* HTTP begins with a method, which is in capitals; the line dialect's words are not. */
static enum dialect tell_dialect(char first) {
    return first >= 'A' && first <= 'Z' ? DIALECT_HTTP : DIALECT_LINE;
}

/* Nothing is told to a client that has not said the token, but that the server is alive. */
static void deny(struct request *request, const char *problem) {
    if (request->kind == REQUEST_INVALID || request->kind == REQUEST_HEALTH)
        return;
    *request = (struct request){
        .kind = REQUEST_INVALID, .status = STATUS_UNAUTHORIZED, .problem = problem};
}

/* "auth TOKEN": from here on this client may ask. */
static void take_auth(struct exchange *exchange, const char *given, size_t length,
                      struct request *request) {
    if (length > 0 && given[length - 1] == '\r')
        length--;
    exchange->has_token = exchange->token == NULL || token_is(exchange->token, given, length);
    *request = (struct request){.kind = REQUEST_AUTH, .status = STATUS_OK};
    if (!exchange->has_token)
        deny(request, "this is not the token");
}

HOT static bool next_line(struct exchange *exchange, const char *bytes, size_t length,
                          struct request *request) {
    static const char auth[] = "auth ";
    const size_t auth_length = sizeof auth - 1;
    const char *end = memchr(bytes, '\n', length);
    bool is_auth = length >= auth_length && memcmp(bytes, auth, auth_length) == 0;
    size_t limit = is_auth ? auth_length + TOKEN_LIMIT + 1 : LINE_LIMIT;
    if ((end == NULL ? length : (size_t)(end - bytes)) > limit)
        return refuse(exchange, STATUS_URI_TOO_LONG, "the request is too long", request);
    if (end == NULL)
        return exchange->ended &&
               refuse(exchange, STATUS_BAD_REQUEST, "the request has no end of line", request);
    size_t line_length = (size_t)(end - bytes);
    if (is_auth) {
        take_auth(exchange, bytes + auth_length, line_length - auth_length, request);
    } else {
        line_parse(bytes, line_length, request);
        if (exchange->token != NULL && !exchange->has_token)
            deny(request, "this server asks for a token; say first: auth TOKEN");
    }
    exchange->keeps_open = request->kind != REQUEST_INVALID;
    consume(exchange, (size_t)(end - bytes) + 1);
    return true;
}

HOT static bool next_head(struct exchange *exchange, const char *bytes, size_t length,
                          struct request *request) {
    if (length > REQUEST_LINE_LIMIT && memchr(bytes, '\n', REQUEST_LINE_LIMIT + 1) == NULL)
        return refuse(exchange, STATUS_URI_TOO_LONG, "the request line is too long", request);
    size_t head_length = http_head_length(bytes, length);
    if (head_length == 0) {
        if (length >= HEAD_LIMIT)
            return refuse(exchange, STATUS_HEAD_TOO_LARGE, "the request head is too large",
                          request);
        return exchange->ended &&
               refuse(exchange, STATUS_BAD_REQUEST, "the request is not complete", request);
    }
    struct http_head head;
    http_parse_head(bytes, head_length, &head);
    *request = head.request;
    if (exchange->token != NULL && !token_is(exchange->token, head.bearer, head.bearer_length))
        deny(request, "this server asks for a token; send: Authorization: Bearer TOKEN");
    exchange->is_head = head.is_head;
    exchange->keeps_open = head.keep_alive;
    exchange->says_keep = head.says_keep;
    consume(exchange, head_length);
    return true;
}

/* Empty lines before an HTTP request are to be ignored (RFC 9112, 2.2). */
static void skip_empty_lines(struct exchange *exchange) {
    while (exchange->dialect != DIALECT_LINE && waiting_input(exchange) >= 2 &&
           memcmp(exchange->input + exchange->input_from, "\r\n", 2) == 0)
        consume(exchange, 2);
}

HOT bool exchange_next(struct exchange *exchange, struct request *request) {
    if (exchange->closing || exchange->output.length > OUTPUT_LIMIT - REPLY_ROOM)
        return false;
    skip_empty_lines(exchange);
    if (waiting_input(exchange) == 0) {
        release_input(exchange); /* nothing came into it */
        return false;
    }
    const char *bytes = exchange->input + exchange->input_from;
    size_t length = waiting_input(exchange);
    if (exchange->dialect == DIALECT_UNKNOWN) {
        if (bytes[0] == '\r' && length == 1 && !exchange->ended)
            return false; /* the first half of an empty line, perhaps */
        exchange->dialect = (uint8_t)tell_dialect(bytes[0]);
    }
    return exchange->dialect == DIALECT_HTTP ? next_head(exchange, bytes, length, request)
                                             : next_line(exchange, bytes, length, request);
}

/* Inline: of a literal only a few moves are left. */
static inline char *put(char *at, const char *string) {
    size_t length = strlen(string);
    memcpy(at, string, length);
    return at + length;
}

/* With the name of the header after it: what is one literal is one move. */
#define TYPE(type) "Content-Type: " type "\r\nContent-Length: "

/* Only what was asked for comes as it was asked for: everything else is told in plain text. */
static char *put_content_type(char *at, const struct request *request, enum status status) {
    bool is_made =
        status == STATUS_OK && (request->kind == REQUEST_TOP || request->kind == REQUEST_METRICS);
    enum format format = is_made ? request->format : FORMAT_TEXT;
    if (format == FORMAT_TEXT)
        return put(at, TYPE("text/plain; charset=utf-8"));
    if (format == FORMAT_JSON)
        return put(at, TYPE("application/json"));
    if (format == FORMAT_PROMETHEUS)
        return put(at, TYPE("text/plain; version=0.0.4; charset=utf-8"));
    return put(at, TYPE("application/openmetrics-text; version=1.0.0; charset=utf-8"));
}

/* Writes the head, of REPLY_HEAD_ROOM bytes at most; returns its end. */
HOT static char *put_http_head(char *at, const struct exchange *exchange,
                               const struct request *request, enum status status,
                               uint32_t body_length) {
    if (status == STATUS_OK)
        at = put(at, "HTTP/1.1 200 OK\r\n");
    else
        at = put(at, http_status_line(status));
    at = put_content_type(at, request, status);
    at += number_format(body_length, at);
    at = put(at, "\r\nDate: ");
    memcpy(at, http_date(), HTTP_DATE_LENGTH);
    at += HTTP_DATE_LENGTH;
    if (status == STATUS_METHOD_NOT_ALLOWED)
        at = put(at, "\r\nAllow: GET, HEAD");
    if (status == STATUS_UNAUTHORIZED)
        at = put(at, "\r\nWWW-Authenticate: Bearer realm=\"regatta\"");
    if (!exchange->keeps_open)
        at = put(at, "\r\nConnection: close");
    else if (exchange->says_keep)
        at = put(at, "\r\nConnection: keep-alive");
    return put(at, "\r\n\r\n");
}

HOT struct text *exchange_begin_reply(struct exchange *exchange) {
    struct text *out = &exchange->output;
    if (out->bytes == NULL) {
        struct buffer buffer = buffers_take(exchange->buffers);
        out->bytes = buffer.bytes;
        out->capacity = buffer.capacity;
        out->is_owned = !buffers_is_lent(exchange->buffers, buffer.bytes);
    }
    exchange->reply_from = out->length;
    if (text_reserve(out, REPLY_HEAD_ROOM))
        out->length += REPLY_HEAD_ROOM;
    return out;
}

/* Puts the head where there is room for it, and the body behind it, which is some hundred bytes
 * further on. Returns the reply's length. */
HOT static size_t put_reply(char *reply, const struct exchange *exchange,
                            const struct request *request, enum status status,
                            uint32_t body_length) {
    bool is_http = exchange->dialect == DIALECT_HTTP;
    char *at = reply;
    if (is_http)
        at = put_http_head(at, exchange, request, status, body_length);
    else if (status != STATUS_OK)
        at = put(at, "error: ");
    assert(at - reply < REPLY_HEAD_ROOM);
    if (!is_http || !exchange->is_head) {
        memmove(at, reply + REPLY_HEAD_ROOM, body_length);
        at += body_length;
    }
    return (size_t)((is_http ? at : put(at, "\n")) - reply);
}

HOT void exchange_end_reply(struct exchange *exchange, const struct request *request,
                            enum status status) {
    struct text *out = &exchange->output;
    bool is_lost = out->overflow; /* no memory was left */
    uint32_t end = out->length;
    out->length = exchange->reply_from;
    out->overflow = false;
    if (!is_lost) {
        uint32_t body_length = end - out->length - REPLY_HEAD_ROOM;
        assert(body_length <= REPLY_LIMIT); /* which is more than the worst of names can fill */
        out->length +=
            (uint32_t)put_reply(out->bytes + out->length, exchange, request, status, body_length);
    }
    /* The next reply would be taken for the one that is left out: with no memory left, it is over
     * after those before. */
    if (!exchange->keeps_open || is_lost) {
        exchange->closing = true;
        exchange->is_refused |= request->kind == REQUEST_INVALID;
        release_input(exchange);
    }
}

void exchange_reply(struct exchange *exchange, const struct request *request, enum status status,
                    const struct text *body) {
    text_add(exchange_begin_reply(exchange), body->bytes, body->length);
    exchange_end_reply(exchange, request, status);
}

HOT bool exchange_is_partial(const struct exchange *exchange) {
    return waiting_input(exchange) > 0 && exchange->output.length == 0;
}

bool exchange_time_out(struct exchange *exchange, struct request *request) {
    if (exchange_is_partial(exchange))
        return refuse(exchange, STATUS_TIMEOUT, "the request took too long", request);
    exchange->closing = true;
    release_output(exchange);
    return false;
}

HOT struct span exchange_output(const struct exchange *exchange) {
    return (struct span){exchange->output.bytes + exchange->output_sent,
                         exchange->output.length - exchange->output_sent};
}

HOT void exchange_sent(struct exchange *exchange, size_t length) {
    assert(length <= exchange->output.length - exchange->output_sent);
    exchange->output_sent += (uint32_t)length;
    if (exchange->output_sent == exchange->output.length)
        release_output(exchange);
}

HOT bool exchange_is_done(const struct exchange *exchange) {
    bool is_sent = exchange->output.length == 0;
    return is_sent && (exchange->closing || (exchange->ended && waiting_input(exchange) == 0));
}

bool exchange_is_answered(const struct exchange *exchange) {
    return waiting_input(exchange) == 0 && !exchange->closing && !exchange->ended;
}

bool exchange_is_idle(const struct exchange *exchange) {
    return exchange->output.length == 0 && waiting_input(exchange) == 0;
}

#define REFUSAL(status, length, problem)                                                           \
    "HTTP/1.1 " status "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " length    \
    "\r\nConnection: close\r\n\r\nerror: " problem "\n\n"

struct span exchange_refusal(enum status status) {
    static char full[] =
        REFUSAL("503 Service Unavailable", "55", "the server has as many clients as it can serve");
    static char denied[] =
        REFUSAL("403 Forbidden", "53", "this address is not among those that may ask");
    return status == STATUS_FORBIDDEN ? (struct span){denied, sizeof denied - 1}
                                      : (struct span){full, sizeof full - 1};
}

#include "exchange/exchange.h"

#include "base/limits.h"
#include "exchange/http.h"
#include "exchange/line.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Room that a reply may need: its head, and its body. */
enum { REPLY_HEAD_ROOM = 512, REPLY_ROOM = REPLY_HEAD_ROOM + REPLY_LIMIT };

static_assert((int)BUFFER_KEPT_BYTES <= (int)HEAD_LIMIT, "no input is larger than a head may be");

void exchange_open(struct exchange *exchange, struct buffers *buffers) {
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

void exchange_close(struct exchange *exchange) {
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
        char *larger = realloc(exchange->input, HEAD_LIMIT);
        if (larger == NULL)
            return false;
        exchange->input = larger;
        exchange->input_capacity = HEAD_LIMIT;
    }
    return exchange->input != NULL;
}

struct span exchange_space(struct exchange *exchange) {
    if (exchange->closing || exchange->ended || exchange->output.length > 0)
        return (struct span){NULL, 0};
    if (!make_room(exchange)) {
        exchange->closing = true;
        return (struct span){NULL, 0};
    }
    return (struct span){exchange->input + exchange->input_to,
                         exchange->input_capacity - exchange->input_to};
}

void exchange_received(struct exchange *exchange, size_t length) {
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

static bool next_line(struct exchange *exchange, const char *bytes, size_t length,
                      struct request *request) {
    const char *end = memchr(bytes, '\n', length);
    if ((end == NULL ? length : (size_t)(end - bytes)) > LINE_LIMIT)
        return refuse(exchange, STATUS_URI_TOO_LONG, "the request is too long", request);
    if (end == NULL)
        return exchange->ended &&
               refuse(exchange, STATUS_BAD_REQUEST, "the request has no end of line", request);
    line_parse(bytes, (size_t)(end - bytes), request);
    exchange->keeps_open = request->kind != REQUEST_INVALID;
    consume(exchange, (size_t)(end - bytes) + 1);
    return true;
}

static bool next_head(struct exchange *exchange, const char *bytes, size_t length,
                      struct request *request) {
    const char *line_end = memchr(bytes, '\n', length);
    if ((line_end == NULL ? length : (size_t)(line_end - bytes)) > REQUEST_LINE_LIMIT)
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

bool exchange_next(struct exchange *exchange, struct request *request) {
    if (exchange->closing || exchange->output.length > OUTPUT_LIMIT - REPLY_ROOM)
        return false;
    skip_empty_lines(exchange);
    if (waiting_input(exchange) == 0)
        return false;
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

static void add_http_head(struct exchange *exchange, const struct request *request,
                          enum status status, uint32_t body_length) {
    struct text *out = &exchange->output;
    bool is_json =
        request->format == FORMAT_JSON && status == STATUS_OK && request->kind == REQUEST_TOP;
    text_add_string(out, http_status_line(status));
    if (is_json)
        text_add_string(out, "Content-Type: application/json\r\n");
    else
        text_add_string(out, "Content-Type: text/plain; charset=utf-8\r\n");
    text_add_string(out, "Content-Length: ");
    text_add_number(out, body_length);
    text_add_string(out, "\r\nDate: ");
    text_add(out, http_date(), HTTP_DATE_LENGTH);
    if (status == STATUS_METHOD_NOT_ALLOWED)
        text_add_string(out, "\r\nAllow: GET, HEAD");
    if (!exchange->keeps_open)
        text_add_string(out, "\r\nConnection: close");
    else if (exchange->says_keep)
        text_add_string(out, "\r\nConnection: keep-alive");
    text_add_string(out, "\r\n\r\n");
}

/* Room for a reply at once, in a buffer that is kept, if there is none yet. */
static void make_room_for(struct exchange *exchange, const struct text *body) {
    struct text *out = &exchange->output;
    if (out->bytes == NULL) {
        struct buffer buffer = buffers_take(exchange->buffers);
        out->bytes = buffer.bytes;
        out->capacity = buffer.capacity;
        out->is_owned = true;
    }
    text_reserve(out, REPLY_HEAD_ROOM + body->length);
}

void exchange_reply(struct exchange *exchange, const struct request *request, enum status status,
                    const struct text *body) {
    struct text *out = &exchange->output;
    assert(body->length <= REPLY_LIMIT);
    make_room_for(exchange, body);
    if (exchange->dialect == DIALECT_HTTP) {
        add_http_head(exchange, request, status, body->length);
        if (!exchange->is_head)
            text_add(out, body->bytes, body->length);
    } else {
        if (status != STATUS_OK)
            text_add_string(out, "error: ");
        text_add(out, body->bytes, body->length);
        text_add(out, "\n", 1);
    }
    /* Half a reply must not look like a whole one: with no memory left, send nothing more. */
    if (out->overflow)
        exchange->output_sent = out->length = 0;
    if (!exchange->keeps_open || out->overflow) {
        exchange->closing = true;
        exchange->is_refused |= request->kind == REQUEST_INVALID;
        release_input(exchange);
    }
}

bool exchange_is_partial(const struct exchange *exchange) {
    return waiting_input(exchange) > 0 && exchange->output.length == 0;
}

bool exchange_time_out(struct exchange *exchange, struct request *request) {
    if (exchange_is_partial(exchange))
        return refuse(exchange, STATUS_TIMEOUT, "the request took too long", request);
    exchange->closing = true;
    release_output(exchange);
    return false;
}

struct span exchange_output(const struct exchange *exchange) {
    return (struct span){exchange->output.bytes + exchange->output_sent,
                         exchange->output.length - exchange->output_sent};
}

void exchange_sent(struct exchange *exchange, size_t length) {
    assert(length <= exchange->output.length - exchange->output_sent);
    exchange->output_sent += (uint32_t)length;
    if (exchange->output_sent == exchange->output.length)
        release_output(exchange);
}

bool exchange_is_done(const struct exchange *exchange) {
    bool is_sent = exchange->output.length == 0;
    return is_sent && (exchange->closing || (exchange->ended && waiting_input(exchange) == 0));
}

bool exchange_is_answered(const struct exchange *exchange) {
    return waiting_input(exchange) == 0 && !exchange->closing && !exchange->ended;
}

bool exchange_is_idle(const struct exchange *exchange) {
    return exchange->output.length == 0 && waiting_input(exchange) == 0;
}

struct span exchange_refusal(void) {
    static char bytes[] = "HTTP/1.1 503 Service Unavailable\r\n"
                          "Content-Type: text/plain; charset=utf-8\r\n"
                          "Content-Length: 55\r\n"
                          "Connection: close\r\n\r\n"
                          "error: the server has as many clients as it can serve\n\n";
    return (struct span){bytes, sizeof bytes - 1};
}

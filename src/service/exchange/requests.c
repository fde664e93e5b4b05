/* From received bytes to requests: which dialect, where a request ends, whether it is allowed. */
#include "service/exchange/exchange.h"

#include "base/hot.h"
#include "service/exchange/exchange_internal.h"
#include "service/exchange/http_request.h"
#include "service/exchange/line_request.h"

#include <string.h>

static void consume(struct exchange *exchange, size_t length) {
    exchange->input_from += (uint32_t)length;
    if (exchange_pending_input(exchange).length == 0)
        exchange_drop_input(exchange);
}

/* Makes an invalid request. It is the connection's last: further input is dropped. */
static bool refuse(struct exchange *exchange, enum status status, const char *problem,
                   struct request *request) {
    *request = (struct request){.kind = REQUEST_INVALID, .status = status, .problem = problem};
    exchange->is_head_request = exchange->keep_alive = exchange->announces_keep_alive = false;
    exchange->closing = exchange->is_refused = true;
    exchange_drop_input(exchange);
    return true;
}

/* HTTP begins with a method in upper case; the line dialect is in lower case. */
static enum dialect detect_dialect(char first) {
    return first >= 'A' && first <= 'Z' ? DIALECT_HTTP : DIALECT_LINE;
}

/* Health checks are never denied. */
static void deny(struct request *request, enum status status, const char *problem) {
    if (request->kind == REQUEST_INVALID || request->kind == REQUEST_HEALTH)
        return;
    *request = (struct request){.kind = REQUEST_INVALID, .status = status, .problem = problem};
}

/* Denies a request without the right token. length: of the token that the client sent; 0: none. */
static void deny_token(struct request *request, size_t length, const char *problem) {
    deny(request, STATUS_UNAUTHORIZED, problem);
    request->is_guess = length > 0 && request->status == STATUS_UNAUTHORIZED;
}

/* NULL: no token is required. */
static const struct token *required_token(const struct exchange *exchange) {
    const struct admission *admission = exchange->admission;
    return admission != NULL && admission->token.length > 0 ? &admission->token : NULL;
}

/* "auth TOKEN" */
static void take_auth(struct exchange *exchange, struct slice sent, struct request *request) {
    slice_drop_last(&sent, '\r');
    const struct token *token = required_token(exchange);
    exchange->has_token = token == NULL || token_is(token, sent.bytes, sent.length);
    *request = (struct request){.kind = REQUEST_AUTH, .status = STATUS_OK};
    if (!exchange->has_token)
        deny_token(request, sent.length, "wrong token");
}

HOT static bool next_line(struct exchange *exchange, struct slice waiting,
                          struct request *request) {
    static const char auth[] = "auth ";
    const size_t auth_length = sizeof auth - 1;
    bool is_auth = waiting.length >= auth_length && memcmp(waiting.bytes, auth, auth_length) == 0;
    size_t limit = is_auth ? auth_length + TOKEN_LIMIT + 1 : LINE_LIMIT;
    struct slice line, rest = waiting;
    bool has_end = slice_cut(&rest, '\n', &line);
    if ((has_end ? line.length : waiting.length) > limit)
        return refuse(exchange, STATUS_URI_TOO_LONG, "the request is too long", request);
    if (!has_end)
        return exchange->has_ended && refuse(exchange, STATUS_BAD_REQUEST,
                                             "the request does not end with a newline", request);
    if (is_auth) {
        take_auth(exchange, slice_after(line, auth_length), request);
    } else {
        line_parse(line, request);
        if (required_token(exchange) != NULL && !exchange->has_token)
            deny_token(request, 0, "this server requires a token; first send: auth TOKEN");
    }
    exchange->keep_alive = request->kind != REQUEST_INVALID;
    consume(exchange, line.length + 1);
    return true;
}

/* With a token any host name will do: a page that attacks by DNS rebinding does not have it. */
HOT static void check_access(const struct exchange *exchange, const struct http_head *head,
                             struct request *request) {
    const struct token *token = required_token(exchange);
    if (token != NULL) {
        if (!token_is(token, head->bearer.bytes, head->bearer.length))
            deny_token(request, head->bearer.length,
                       "this server requires a token; send: Authorization: Bearer TOKEN");
    } else if (exchange->admission != NULL && head->host.bytes != NULL &&
               !allowed_hosts_include(&exchange->admission->hosts, head->host)) {
        deny(request, STATUS_MISDIRECTED,
             "this host name is not allowed; use the server's address, or start it with --host "
             "NAME");
    }
}

HOT static bool next_head(struct exchange *exchange, struct slice waiting,
                          struct request *request) {
    if (waiting.length > REQUEST_LINE_LIMIT &&
        memchr(waiting.bytes, '\n', REQUEST_LINE_LIMIT + 1) == NULL)
        return refuse(exchange, STATUS_URI_TOO_LONG, "the request line is too long", request);
    struct slice text = {waiting.bytes, http_head_length(waiting)};
    if (text.length == 0) {
        if (waiting.length >= HEAD_LIMIT)
            return refuse(exchange, STATUS_HEAD_TOO_LARGE, "the request head is too large",
                          request);
        return exchange->has_ended &&
               refuse(exchange, STATUS_BAD_REQUEST, "the request is not complete", request);
    }
    struct http_head head;
    http_parse_head(text, &head);
    *request = head.request;
    check_access(exchange, &head, request);
    exchange->is_head_request = head.is_head_request;
    exchange->keep_alive = head.keep_alive && !request->is_guess; /* one guess per connection */
    exchange->announces_keep_alive = head.announces_keep_alive;
    consume(exchange, text.length);
    return true;
}

/* Empty lines before an HTTP request are to be ignored (RFC 9112, 2.2), but not for ever: they are
 * part of it. */
static void skip_empty_lines(struct exchange *exchange) {
    struct slice waiting;
    while (exchange->dialect != DIALECT_LINE &&
           (waiting = exchange_pending_input(exchange)).length >= 2 &&
           memcmp(waiting.bytes, "\r\n", 2) == 0) {
        exchange->has_skipped = true;
        consume(exchange, 2);
    }
}

HOT bool exchange_next(struct exchange *exchange, struct request *request) {
    if (exchange->closing || exchange->output.length > OUTPUT_LIMIT - REPLY_ROOM)
        return false;
    skip_empty_lines(exchange);
    struct slice waiting = exchange_pending_input(exchange);
    if (waiting.length == 0) {
        exchange_drop_input(exchange); /* the buffer was never filled */
        return false;
    }
    if (exchange->dialect == DIALECT_UNKNOWN) {
        if (waiting.bytes[0] == '\r' && waiting.length == 1 && !exchange->has_ended)
            return false; /* may be half of an empty line */
        exchange->dialect = (uint8_t)detect_dialect(waiting.bytes[0]);
    }
    const bool is_whole = exchange->dialect == DIALECT_HTTP ? next_head(exchange, waiting, request)
                                                            : next_line(exchange, waiting, request);
    exchange->has_skipped &= !is_whole;
    return is_whole;
}

bool exchange_time_out(struct exchange *exchange, struct request *request) {
    if (exchange_is_partial(exchange))
        return refuse(exchange, STATUS_TIMEOUT, "the request took too long", request);
    exchange->closing = true;
    exchange->ends_with_reply = false;
    exchange_drop_output(exchange);
    return false;
}

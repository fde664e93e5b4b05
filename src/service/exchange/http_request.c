/* Refused although lenient servers accept them: a bare LF, folded lines, blanks before a colon, a
 * missing or second Host, a body. Each has been used to smuggle one request inside another. */
#include "service/exchange/http_request.h"

#include "base/hot.h"
#include "base/number.h"
#include "service/exchange/http_accept.h"
#include "service/exchange/query.h"

#include <string.h>

/* A set of bytes as a bitmap: lookups need no branch that could be mispredicted. */
struct set {
    uint64_t bits[4];
};

#define BIT(c) (UINT64_C(1) << ((c) % 64))
#define DIGITS UINT64_C(0x03FF000000000000)  /* in bits[0] */
#define LETTERS UINT64_C(0x07FFFFFE07FFFFFE) /* in bits[1] */
#define ALL UINT64_MAX

/* tchar of RFC 9110, 5.6.2. */
static const struct set token = {{
    DIGITS | BIT('!') | BIT('#') | BIT('$') | BIT('%') | BIT('&') | BIT('\'') | BIT('*') |
        BIT('+') | BIT('-') | BIT('.'),
    LETTERS | BIT('^') | BIT('_') | BIT('`') | BIT('|') | BIT('~'),
}};

/* reg-name, IP-literal and port of RFC 3986, in any order. */
static const struct set host = {{
    DIGITS | BIT('-') | BIT('.') | BIT('!') | BIT('$') | BIT('&') | BIT('\'') | BIT('(') |
        BIT(')') | BIT('*') | BIT('+') | BIT(',') | BIT(';') | BIT('=') | BIT(':') | BIT('%'),
    LETTERS | BIT('_') | BIT('~') | BIT('[') | BIT(']'),
}};

/* Bytes of a request target: '!' to '~'. */
static const struct set visible = {{ALL << '!', ALL & ~BIT(0x7F)}};

/* Bytes of a header value: no control character except tab. */
static const struct set printed = {{ALL << ' ' | BIT('\t'), ALL & ~BIT(0x7F), ALL, ALL}};

static bool is_in(const struct set *set, char c) {
    return (set->bits[(unsigned char)c / 64] >> ((unsigned char)c % 64) & 1) != 0;
}

/* Length of the prefix whose bytes are all in the set. */
static size_t prefix_length(struct slice slice, const struct set *set) {
    size_t i = 0;
    while (i < slice.length && is_in(set, slice.bytes[i]))
        i++;
    return i;
}

static bool is_all(struct slice slice, const struct set *set) {
    return prefix_length(slice, set) == slice.length;
}

/* Cuts one or more bytes of the set, and the mark that must follow, off the start of *rest. */
HOT static bool cut_word(struct slice *rest, const struct set *set, char mark,
                         struct slice *before) {
    size_t length = prefix_length(*rest, set);
    if (length == 0 || length == rest->length || rest->bytes[length] != mark)
        return false;
    *before = (struct slice){rest->bytes, length};
    *rest = slice_after(*rest, length + 1);
    return true;
}

/* Cuts a line off and drops its CR LF; false if it ends in a bare LF. A bare CR or a zero byte
 * inside is refused later: no part of a line may contain one. */
static bool cut_line(struct slice *rest, struct slice *line) {
    return slice_cut(rest, '\n', line) && slice_drop_last(line, '\r');
}

/* State while a head is parsed. */
struct parse {
    struct http_head *head;
    bool is_1_0;
    struct query query;
    bool says_close, says_keep_alive; /* from Connection headers */
    bool has_length;
    unsigned hosts;            /* Host headers seen */
    unsigned authorizations;   /* Authorization headers seen */
    struct http_accept accept; /* for /metrics */
};

static void refuse(struct http_head *head, enum status status, const char *problem) {
    if (head->request.kind == REQUEST_INVALID)
        return; /* only the first problem is reported */
    head->request.kind = REQUEST_INVALID;
    head->request.status = status;
    head->request.problem = problem;
}

/* Where the request ends is uncertain, so nothing after it can be trusted. */
static void refuse_and_close(struct http_head *head, const char *problem) {
    refuse(head, STATUS_BAD_REQUEST, problem);
    head->keep_alive = false;
}

/* "n=2&format=json" */
static void parse_query(struct slice query, struct parse *parse) {
    while (query.length > 0) {
        struct slice parameter = slice_next(&query, '&');
        if (parameter.length > 0)
            query_take(&parse->query, parameter);
    }
    query_end(&parse->query);
}

/* Has no effect if the method was already refused. */
static void set_page(struct http_head *head, enum request_kind page) {
    if (head->request.kind != REQUEST_INVALID)
        head->request.kind = page;
}

static const char no_such_page[] = "no such page: there are /top, /metrics and /healthz";

/* Origin form ("/top?n=2") or absolute form ("http://host/top"), which servers must accept too. */
static void parse_target(struct slice target, struct parse *parse) {
    struct http_head *head = parse->head;
    if (slice_starts_any_case(target, "http://")) {
        target = slice_after(target, strlen("http://"));
        const char *slash = slice_find(target, '/');
        if (slash == NULL) {
            refuse(head, STATUS_NOT_FOUND, no_such_page);
            return;
        }
        struct slice authority = {target.bytes, (size_t)(slash - target.bytes)};
        if (authority.length == 0 || !is_all(authority, &host))
            refuse_and_close(head, "malformed request line");
        head->host = authority;
        target = slice_after(target, authority.length);
    }
    struct slice path = slice_next(&target, '?');
    if (slice_equals(path, "/top"))
        parse_query(target, parse);
    else if (slice_equals(path, "/metrics"))
        set_page(head, REQUEST_METRICS);
    else if (slice_equals(path, "/healthz"))
        set_page(head, REQUEST_HEALTH);
    else
        refuse(head, STATUS_NOT_FOUND, no_such_page);
}

static void parse_request_line(struct slice line, struct parse *parse) {
    struct http_head *head = parse->head;
    struct slice method, target;
    bool has_method = cut_word(&line, &token, ' ', &method);
    head->is_head_request =
        has_method && slice_equals(method, "HEAD"); /* even if the rest is malformed */
    if (!has_method || !cut_word(&line, &visible, ' ', &target)) {
        refuse_and_close(head, "malformed request line");
        return;
    }
    bool is_version = line.length == 8 && memcmp(line.bytes, "HTTP/", 5) == 0 &&
                      is_digit(line.bytes[5]) && line.bytes[6] == '.' && is_digit(line.bytes[7]);
    parse->is_1_0 = slice_equals(line, "HTTP/1.0");
    /* A later minor version is served as HTTP/1.1 (RFC 9110, 2.5). */
    if (!is_version || line.bytes[5] != '1') {
        refuse(head, is_version ? STATUS_VERSION : STATUS_BAD_REQUEST,
               is_version ? "only HTTP/1.1 and HTTP/1.0 are supported" : "malformed request line");
        head->keep_alive = false;
        return;
    }
    if (!head->is_head_request && !slice_equals(method, "GET"))
        refuse(head, STATUS_METHOD_NOT_ALLOWED, "only GET and HEAD are allowed");
    parse_target(target, parse);
}

/* Whether a comma-separated list, such as that of Connection, contains the word. */
HOT static bool list_contains(struct slice value, const char *word) {
    while (value.length > 0)
        if (slice_equals_any_case(slice_trim(slice_next(&value, ',')), word))
            return true;
    return false;
}

/* "Bearer TOKEN" (RFC 6750). Two such headers are ambiguous: neither counts. */
static void take_authorization(struct slice value, struct parse *parse) {
    static const char scheme[] = "bearer ";
    struct slice bearer = {"", 0};
    if (++parse->authorizations == 1 && slice_starts_any_case(value, scheme))
        bearer = slice_trim(slice_after(value, strlen(scheme)));
    parse->head->bearer = bearer;
}

static void take_field(struct slice name, struct slice value, struct parse *parse) {
    struct http_head *head = parse->head;
    if (slice_equals_any_case(name, "host")) {
        parse->hosts++;
        if (!is_all(value, &host)) /* excludes control characters */
            refuse_and_close(head, "malformed Host header");
        if (head->host.bytes == NULL) /* the target's host takes precedence (RFC 9112, 3.2.2) */
            head->host = value;
    } else if (!is_all(value, &printed)) {
        refuse_and_close(head, "control character in a header");
    } else if (slice_equals_any_case(name, "authorization")) {
        take_authorization(value, parse);
    } else if (slice_equals_any_case(name, "connection")) {
        parse->says_close |= list_contains(value, "close");
        parse->says_keep_alive |= list_contains(value, "keep-alive");
    } else if (slice_equals_any_case(name, "accept") && head->request.kind == REQUEST_METRICS) {
        http_accept_add(&parse->accept, value);
    } else if (slice_equals_any_case(name, "accept") && !query_has_format(&parse->query)) {
        head->request.format = http_accept_page(value, head->request.format);
    } else if (slice_equals_any_case(name, "transfer-encoding") ||
               (slice_equals_any_case(name, "content-length") &&
                (parse->has_length || !slice_equals(value, "0")))) {
        refuse_and_close(head, "requests with a body are not accepted");
    } else if (slice_equals_any_case(name, "content-length")) {
        parse->has_length = true;
    }
}

static void parse_fields(struct slice rest, struct parse *parse) {
    struct slice line, name;
    while (cut_line(&rest, &line)) {
        if (line.length == 0)
            return;
        if (!cut_word(&line, &token, ':', &name)) {
            refuse_and_close(parse->head, "malformed header line");
            return;
        }
        take_field(name, slice_trim(line), parse);
    }
    refuse_and_close(parse->head, "malformed header line");
}

HOT void http_parse_head(struct slice text, struct http_head *head) {
    *head = (struct http_head){
        .keep_alive = true, /* cleared by what rules it out, and never set again */
        .bearer = {"", 0},
    };
    struct parse parse = {.head = head};
    query_begin(&parse.query, &head->request);
    struct slice line;
    if (!cut_line(&text, &line)) {
        refuse_and_close(head, "malformed request line");
        return;
    }
    parse_request_line(line, &parse);
    parse_fields(text, &parse);
    if (parse.hosts > 1 || (parse.hosts == 0 && !parse.is_1_0))
        refuse_and_close(head, "exactly one Host header is required");
    if (head->request.kind == REQUEST_METRICS)
        head->request.format = http_accept_metrics(&parse.accept);
    if (parse.says_close || (parse.is_1_0 && !parse.says_keep_alive))
        head->keep_alive = false;
    head->announces_keep_alive = parse.is_1_0 && head->keep_alive;
}

static const char *find_lf(const char *from, const char *end) {
    return slice_find((struct slice){from, (size_t)(end - from)}, '\n');
}

HOT size_t http_head_length(struct slice text) {
    const char *bytes = text.bytes, *end = bytes + text.length;
    for (const char *lf = bytes; (lf = find_lf(lf, end)) != NULL; lf++) {
        if (end - lf >= 2 && lf[1] == '\n')
            return (size_t)(lf - bytes) + 2;
        if (end - lf >= 3 && lf[1] == '\r' && lf[2] == '\n')
            return (size_t)(lf - bytes) + 3;
    }
    return 0;
}

/* What is refused although a lenient server would take it: a bare LF, folded lines, blanks before a
 * colon, a missing or second Host, a body. Each of these has let one request hide in another. */
#include "exchange/http.h"

#include "base/calendar.h"
#include "base/hot.h"
#include "exchange/accept.h"
#include "exchange/query.h"
#include "exchange/slice.h"

#include <string.h>
#include <time.h>

/* How many bytes of the word it begins with, which is in small letters. No locale has a say in
 * this. */
HOT static size_t begins_any_case(struct slice slice, const char *word) {
    size_t i = 0;
    for (; i < slice.length && word[i] != '\0'; i++) {
        char c = slice.bytes[i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != word[i])
            break;
    }
    return i;
}

static bool starts_any_case(struct slice slice, const char *word) {
    return word[begins_any_case(slice, word)] == '\0';
}

HOT static bool equals_any_case(struct slice slice, const char *word) {
    size_t same = begins_any_case(slice, word);
    return same == slice.length && word[same] == '\0';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Sets of bytes, as bits: to look one up takes no branch that a processor could guess wrong. */
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

/* reg-name, IP-literal and port of RFC 3986; not which of them stands where. */
static const struct set host = {{
    DIGITS | BIT('-') | BIT('.') | BIT('!') | BIT('$') | BIT('&') | BIT('\'') | BIT('(') |
        BIT(')') | BIT('*') | BIT('+') | BIT(',') | BIT(';') | BIT('=') | BIT(':') | BIT('%'),
    LETTERS | BIT('_') | BIT('~') | BIT('[') | BIT(']'),
}};

/* What a target is made of: from '!' to '~'. */
static const struct set visible = {{ALL << '!', ALL & ~BIT(0x7F)}};

/* What a header's value is made of: no control character but the tab. */
static const struct set printed = {{ALL << ' ' | BIT('\t'), ALL & ~BIT(0x7F), ALL, ALL}};

static bool is_in(const struct set *set, char c) {
    return (set->bits[(unsigned char)c / 64] >> ((unsigned char)c % 64) & 1) != 0;
}

/* Bytes of the set that the slice begins with. */
static size_t leading(struct slice slice, const struct set *set) {
    size_t i = 0;
    while (i < slice.length && is_in(set, slice.bytes[i]))
        i++;
    return i;
}

static bool is_all(struct slice slice, const struct set *set) {
    return leading(slice, set) == slice.length;
}

/* Cuts what comes before `mark` off *rest; false if there is no mark. */
static bool cut(struct slice *rest, char mark, struct slice *before) {
    const char *at = memchr(rest->bytes, mark, rest->length);
    if (at == NULL)
        return false;
    *before = (struct slice){rest->bytes, (size_t)(at - rest->bytes)};
    rest->length -= before->length + 1;
    rest->bytes = at + 1;
    return true;
}

/* Cuts what is made of the set, and the mark after it, off *rest; false if it is nothing, or if
 * something else comes after it. */
HOT static bool cut_all(struct slice *rest, const struct set *set, char mark,
                        struct slice *before) {
    size_t length = leading(*rest, set);
    if (length == 0 || length == rest->length || rest->bytes[length] != mark)
        return false;
    *before = (struct slice){rest->bytes, length};
    rest->bytes += length + 1;
    rest->length -= length + 1;
    return true;
}

HOT static struct slice trim(struct slice slice) {
    while (slice.length > 0 && (slice.bytes[0] == ' ' || slice.bytes[0] == '\t')) {
        slice.bytes++;
        slice.length--;
    }
    while (slice.length > 0 &&
           (slice.bytes[slice.length - 1] == ' ' || slice.bytes[slice.length - 1] == '\t'))
        slice.length--;
    return slice;
}

/* A line without its CR LF; false if it ends in a bare LF. A bare CR or a zero byte inside of it is
 * refused with its part of the line, as none may hold one. */
static bool cut_line(struct slice *rest, struct slice *line) {
    if (!cut(rest, '\n', line) || line->length == 0 || line->bytes[line->length - 1] != '\r')
        return false;
    line->length--;
    return true;
}

/* What the parts of a head add up to. */
struct parse {
    struct http_head *head;
    bool is_1_0;
    struct query query;
    bool closes, keeps; /* what Connection said */
    bool has_length;
    unsigned hosts;
    unsigned authorizations;
    struct accept accept; /* of /metrics */
};

static void refuse(struct http_head *head, enum status status, const char *problem) {
    if (head->request.kind == REQUEST_INVALID)
        return; /* the first problem is the one to tell */
    head->request.kind = REQUEST_INVALID;
    head->request.status = status;
    head->request.problem = problem;
}

/* The request cannot be framed with certainty: what follows it is not to be trusted either. */
static void refuse_and_close(struct http_head *head, const char *problem) {
    refuse(head, STATUS_BAD_REQUEST, problem);
    head->keep_alive = false;
}

/* "n=2&format=json" */
static void parse_query(struct slice query, struct parse *parse) {
    struct slice parameter;
    while (query.length > 0) {
        if (!cut(&query, '&', &parameter)) {
            parameter = query;
            query.length = 0;
        }
        if (parameter.length > 0)
            query_take(&parse->query, parameter.bytes, parameter.length);
    }
    query_end(&parse->query);
}

/* Unless the method was wrong already. */
static void ask_for(struct http_head *head, enum request_kind page) {
    if (head->request.kind != REQUEST_INVALID)
        head->request.kind = page;
}

static const char no_such_page[] = "no such page: there are /top, /metrics and /healthz";

/* Origin form ("/top?n=2") or absolute form ("http://host/top"), which a server must take too. */
static void parse_target(struct slice target, struct parse *parse) {
    struct http_head *head = parse->head;
    struct slice path, query;
    if (starts_any_case(target, "http://")) {
        target.bytes += strlen("http://");
        target.length -= strlen("http://");
        const char *slash = memchr(target.bytes, '/', target.length);
        if (slash == NULL) {
            refuse(head, STATUS_NOT_FOUND, no_such_page);
            return;
        }
        struct slice authority = {target.bytes, (size_t)(slash - target.bytes)};
        if (authority.length == 0 || !is_all(authority, &host))
            refuse_and_close(head, "malformed request line");
        target.length -= authority.length;
        target.bytes = slash;
    }
    if (cut(&target, '?', &path)) {
        query = target;
    } else {
        path = target;
        query = (struct slice){target.bytes, 0};
    }
    if (slice_equals(path, "/top"))
        parse_query(query, parse);
    else if (slice_equals(path, "/metrics"))
        ask_for(head, REQUEST_METRICS);
    else if (slice_equals(path, "/healthz"))
        ask_for(head, REQUEST_HEALTH);
    else
        refuse(head, STATUS_NOT_FOUND, no_such_page);
}

static void parse_request_line(struct slice line, struct parse *parse) {
    struct http_head *head = parse->head;
    struct slice method, target;
    bool has_method = cut_all(&line, &token, ' ', &method);
    head->is_head = has_method && slice_equals(method, "HEAD"); /* malformed as the rest may be */
    if (!has_method || !cut_all(&line, &visible, ' ', &target)) {
        refuse_and_close(head, "malformed request line");
        return;
    }
    bool is_version = line.length == 8 && memcmp(line.bytes, "HTTP/", 5) == 0 &&
                      is_digit(line.bytes[5]) && line.bytes[6] == '.' && is_digit(line.bytes[7]);
    parse->is_1_0 = slice_equals(line, "HTTP/1.0");
    /* A later minor version is served as the latest that we know (RFC 9110, 2.5). */
    if (!is_version || line.bytes[5] != '1') {
        refuse(head, is_version ? STATUS_VERSION : STATUS_BAD_REQUEST,
               is_version ? "only HTTP/1.1 and HTTP/1.0 are spoken here"
                          : "malformed request line");
        head->keep_alive = false;
        return;
    }
    if (!head->is_head && !slice_equals(method, "GET"))
        refuse(head, STATUS_METHOD_NOT_ALLOWED, "only GET and HEAD are allowed");
    parse_target(target, parse);
}

/* A list of tokens such as that of Connection. */
HOT static bool lists(struct slice value, const char *word) {
    struct slice item;
    while (value.length > 0) {
        if (!cut(&value, ',', &item)) {
            item = value;
            value.length = 0;
        }
        if (equals_any_case(trim(item), word))
            return true;
    }
    return false;
}

/* Whether the parameters of a media type say that it is not wanted: q=0, in as many digits. */
static bool is_unwanted(struct slice parameters) {
    struct slice parameter;
    while (parameters.length > 0) {
        if (!cut(&parameters, ';', &parameter)) {
            parameter = parameters;
            parameters.length = 0;
        }
        parameter = trim(parameter);
        if (equals_any_case(parameter, "q=0") || equals_any_case(parameter, "q=0.0") ||
            equals_any_case(parameter, "q=0.00") || equals_any_case(parameter, "q=0.000"))
            return true;
    }
    return false;
}

/* JSON where it is named and text is not, the first that is wanted deciding: other q-values nobody
 * sends in earnest who asks a server for its processes. */
static enum format accepted(struct slice value, enum format otherwise) {
    struct slice item, type;
    while (value.length > 0) {
        if (!cut(&value, ',', &item)) {
            item = value;
            value.length = 0;
        }
        if (!cut(&item, ';', &type)) {
            type = item;
            item.length = 0;
        }
        type = trim(type);
        if (is_unwanted(item))
            continue;
        if (equals_any_case(type, "application/json"))
            return FORMAT_JSON;
        if (equals_any_case(type, "text/plain") || equals_any_case(type, "*/*"))
            return FORMAT_TEXT;
    }
    return otherwise;
}

/* "Bearer TOKEN" (RFC 6750). Which of two headers is meant nobody can say: then it is none. */
static void take_authorization(struct slice value, struct parse *parse) {
    static const char scheme[] = "bearer ";
    const size_t length = sizeof scheme - 1;
    struct slice bearer = {"", 0};
    if (++parse->authorizations == 1 && starts_any_case(value, scheme))
        bearer = trim((struct slice){value.bytes + length, value.length - length});
    parse->head->bearer = bearer.bytes;
    parse->head->bearer_length = bearer.length;
}

static void take_field(struct slice name, struct slice value, struct parse *parse) {
    struct http_head *head = parse->head;
    if (equals_any_case(name, "host")) {
        parse->hosts++;
        if (!is_all(value, &host)) /* of which no control character is one */
            refuse_and_close(head, "malformed Host header");
    } else if (!is_all(value, &printed)) {
        refuse_and_close(head, "control character in a header");
    } else if (equals_any_case(name, "authorization")) {
        take_authorization(value, parse);
    } else if (equals_any_case(name, "connection")) {
        parse->closes |= lists(value, "close");
        parse->keeps |= lists(value, "keep-alive");
    } else if (equals_any_case(name, "accept") && head->request.kind == REQUEST_METRICS) {
        accept_add(&parse->accept, value.bytes, value.length);
    } else if (equals_any_case(name, "accept") && !query_has_format(&parse->query)) {
        head->request.format = accepted(value, head->request.format);
    } else if (equals_any_case(name, "transfer-encoding") ||
               (equals_any_case(name, "content-length") &&
                (parse->has_length || !slice_equals(value, "0")))) {
        refuse_and_close(head, "a request with a body is not taken here");
    } else if (equals_any_case(name, "content-length")) {
        parse->has_length = true;
    }
}

static void parse_fields(struct slice rest, struct parse *parse) {
    struct slice line, name;
    while (cut_line(&rest, &line)) {
        if (line.length == 0)
            return;
        if (!cut_all(&line, &token, ':', &name)) {
            refuse_and_close(parse->head, "malformed header line");
            return;
        }
        take_field(name, trim(line), parse);
    }
    refuse_and_close(parse->head, "malformed header line");
}

HOT void http_parse_head(const char *bytes, size_t length, struct http_head *head) {
    *head = (struct http_head){
        .keep_alive = true, /* until something speaks against it; never set again */
        .bearer = "",
    };
    struct parse parse = {.head = head};
    query_begin(&parse.query, &head->request);
    struct slice rest = {bytes, length}, line;
    if (!cut_line(&rest, &line)) {
        refuse_and_close(head, "malformed request line");
        return;
    }
    parse_request_line(line, &parse);
    parse_fields(rest, &parse);
    if (parse.hosts > 1 || (parse.hosts == 0 && !parse.is_1_0))
        refuse_and_close(head, "exactly one Host header is required");
    if (head->request.kind == REQUEST_METRICS)
        head->request.format = accept_metrics(&parse.accept);
    if (parse.closes || (parse.is_1_0 && !parse.keeps))
        head->keep_alive = false;
    head->says_keep = parse.is_1_0 && head->keep_alive;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
static void put_date(char *at, const struct calendar *utc) {
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    memcpy(at, days + (size_t)3 * utc->weekday, 3);
    memcpy(at + 3, ", ", 2);
    at = calendar_put(at + 5, utc->day, 2);
    *at++ = ' ';
    memcpy(at, months + (size_t)3 * (utc->month - 1), 3);
    at[3] = ' ';
    at = calendar_put(at + 4, utc->year, 4);
    *at++ = ' ';
    at = calendar_put(at, utc->hour, 2);
    *at++ = ':';
    at = calendar_put(at, utc->minute, 2);
    *at++ = ':';
    at = calendar_put(at, utc->second, 2);
    memcpy(at, " GMT", 4);
}

HOT const char *http_date(void) {
    static _Thread_local char date[HTTP_DATE_LENGTH];
    static _Thread_local time_t written_at = -1;
    time_t now = time(NULL); /* from the vDSO: no system call */
    if (now != written_at) {
        const struct calendar utc = calendar_of((uint64_t)now);
        put_date(date, &utc);
        written_at = now;
    }
    return date;
}

HOT size_t http_head_length(const char *bytes, size_t length) {
    const char *end = bytes + length;
    for (const char *lf = bytes; (lf = memchr(lf, '\n', (size_t)(end - lf))) != NULL; lf++) {
        if (end - lf >= 2 && lf[1] == '\n')
            return (size_t)(lf - bytes) + 2;
        if (end - lf >= 3 && lf[1] == '\r' && lf[2] == '\n' && lf > bytes && lf[-1] == '\r')
            return (size_t)(lf - bytes) + 3;
    }
    return 0;
}

const char *http_status_line(enum status status) {
    switch (status) {
    case STATUS_OK:
        return "HTTP/1.1 200 OK\r\n";
    case STATUS_BAD_REQUEST:
        return "HTTP/1.1 400 Bad Request\r\n";
    case STATUS_UNAUTHORIZED:
        return "HTTP/1.1 401 Unauthorized\r\n";
    case STATUS_FORBIDDEN:
        return "HTTP/1.1 403 Forbidden\r\n";
    case STATUS_NOT_FOUND:
        return "HTTP/1.1 404 Not Found\r\n";
    case STATUS_METHOD_NOT_ALLOWED:
        return "HTTP/1.1 405 Method Not Allowed\r\n";
    case STATUS_TIMEOUT:
        return "HTTP/1.1 408 Request Timeout\r\n";
    case STATUS_URI_TOO_LONG:
        return "HTTP/1.1 414 URI Too Long\r\n";
    case STATUS_HEAD_TOO_LARGE:
        return "HTTP/1.1 431 Request Header Fields Too Large\r\n";
    case STATUS_UNAVAILABLE:
        return "HTTP/1.1 503 Service Unavailable\r\n";
    case STATUS_VERSION:
        return "HTTP/1.1 505 HTTP Version Not Supported\r\n";
    }
    return "HTTP/1.1 500 Internal Server Error\r\n";
}

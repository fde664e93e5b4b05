#include "service/exchange/http_reply.h"

#include "base/calendar.h"
#include "base/hot.h"

#include <string.h>
#include <time.h>

enum { DATE_LENGTH = sizeof "Sun, 06 Nov 1994 08:49:37 GMT" - 1 };

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

/* Valid in this thread until its next call. */
HOT static const char *http_date(void) {
    static _Thread_local char date[DATE_LENGTH];
    static _Thread_local time_t written_at = -1;
    time_t now = time(NULL); /* from the vDSO: no system call */
    if (now != written_at) {
        const struct calendar utc = calendar_of((uint64_t)now);
        put_date(date, &utc);
        written_at = now;
    }
    return date;
}

/* With its CR LF. */
static const char *status_line(enum status status) {
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
    case STATUS_MISDIRECTED:
        return "HTTP/1.1 421 Misdirected Request\r\n";
    case STATUS_HEAD_TOO_LARGE:
        return "HTTP/1.1 431 Request Header Fields Too Large\r\n";
    case STATUS_UNAVAILABLE:
        return "HTTP/1.1 503 Service Unavailable\r\n";
    case STATUS_VERSION:
        return "HTTP/1.1 505 HTTP Version Not Supported\r\n";
    }
    return "HTTP/1.1 500 Internal Server Error\r\n";
}

/* Inline: a literal becomes a few moves. */
static inline char *put_before(char *at, const char *string) {
    size_t length = strlen(string);
    return memcpy(at - length, string, length);
}

static char *put_number_before(char *at, size_t number) {
    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    return at;
}

/* Includes the name of the next header, so that one literal is copied. */
#define TYPE(type) "Content-Type: " type "\r\nContent-Length: "

/* Errors and health checks are plain text, whatever format was requested. */
static char *put_type_before(char *at, const struct request *request, enum status status) {
    bool has_format =
        status == STATUS_OK && (request->kind == REQUEST_TOP || request->kind == REQUEST_METRICS);
    enum format format = has_format ? request->format : FORMAT_TEXT;
    if (format == FORMAT_TEXT)
        return put_before(at, TYPE("text/plain; charset=utf-8"));
    if (format == FORMAT_JSON)
        return put_before(at, TYPE("application/json"));
    if (format == FORMAT_PROMETHEUS)
        return put_before(at, TYPE("text/plain; version=0.0.4; charset=utf-8"));
    return put_before(at, TYPE("application/openmetrics-text; version=1.0.0; charset=utf-8"));
}

/* Written backwards, so that it ends where the body begins. */
HOT char *http_put_reply_head(char *body, const struct request *request, enum status status,
                              size_t body_length, const char *connection) {
    char *at = put_before(body, "\r\n\r\n");
    if (connection != NULL) {
        at = put_before(at, connection);
        at = put_before(at, "\r\nConnection: ");
    }
    if (status == STATUS_UNAUTHORIZED)
        at = put_before(at, "\r\nWWW-Authenticate: Bearer realm=\"regatta\"");
    if (status == STATUS_METHOD_NOT_ALLOWED)
        at = put_before(at, "\r\nAllow: GET, HEAD");
    at -= DATE_LENGTH;
    memcpy(at, http_date(), DATE_LENGTH);
    at = put_before(at, "\r\nDate: ");
    at = put_number_before(at, body_length);
    at = put_type_before(at, request, status);
    if (status == STATUS_OK)
        return put_before(at, "HTTP/1.1 200 OK\r\n");
    return put_before(at, status_line(status));
}

/* A client's request: the exchange parses it, the service answers it. */
#pragma once
#include "service/history/ask.h"

#include <stdbool.h>

enum request_kind {
    REQUEST_TOP,     /* the `rows` busiest processes or groups, as `format` */
    REQUEST_HEALTH,  /* is the server alive? */
    REQUEST_AUTH,    /* the right token was presented; line dialect only */
    REQUEST_METRICS, /* as FORMAT_PROMETHEUS or FORMAT_OPENMETRICS */
    REQUEST_INVALID, /* `status` and `problem` say why */
};

enum format {
    FORMAT_TEXT,
    FORMAT_JSON,
    FORMAT_PROMETHEUS,  /* text format 0.0.4 */
    FORMAT_OPENMETRICS, /* 1.0 */
};

/* HTTP's numbers, in both dialects. */
enum status {
    STATUS_OK = 200,
    STATUS_BAD_REQUEST = 400,
    STATUS_UNAUTHORIZED = 401,
    STATUS_FORBIDDEN = 403,
    STATUS_NOT_FOUND = 404,
    STATUS_METHOD_NOT_ALLOWED = 405,
    STATUS_TIMEOUT = 408,
    STATUS_URI_TOO_LONG = 414,
    STATUS_MISDIRECTED = 421,
    STATUS_HEAD_TOO_LARGE = 431,
    STATUS_UNAVAILABLE = 503,
    STATUS_VERSION = 505,
};

struct request {
    enum request_kind kind;
    unsigned rows;
    enum format format;
    enum by by;
    enum grouping group;
    int64_t window_ns;  /* of BY_RECENT */
    int64_t asked_ns;   /* CLOCK_MONOTONIC, when it had arrived; 0: just now */
    bool wants_threads; /* each row's busiest threads */
    bool wants_command; /* ... and its command line */
    bool is_guess;      /* invalid because its token is wrong */
    enum status status;
    const char *problem; /* a constant string of one line; NULL unless invalid */
};

/* The parameters of a top request: "n=5", "by=recent". They are the same in both dialects; HTTP
 * separates them by '&', the line dialect by blanks. A pure parser. */
#pragma once
#include "base/slice.h"
#include "service/request.h"

struct query {
    struct request *request;
    unsigned seen; /* a bit for each parameter */
};

/* Makes *request a top request with default parameters. */
void query_begin(struct query *query, struct request *request);

/* Takes "NAME=VALUE". An invalid, unknown or repeated parameter makes the request REQUEST_INVALID;
 * the first problem is reported. */
void query_take(struct query *query, struct slice parameter);

/* Takes the bare value of "n". */
void query_take_rows(struct query *query, struct slice value);

/* Call after the last parameter: rejects conflicting ones. */
void query_end(struct query *query);

/* Whether there was a format parameter. */
bool query_has_format(const struct query *query);

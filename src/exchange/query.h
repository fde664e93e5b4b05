/* The parameters of a request for the top: "n=5", "by=recent". Both dialects have the same; HTTP
 * separates them by '&', the line dialect by blanks. A pure parser. */
#pragma once
#include "exchange/slice.h"
#include "service/request.h"

struct query {
    struct request *request;
    unsigned given; /* a bit for each parameter */
};

/* Makes *request one for the top without parameters. */
void query_begin(struct query *query, struct request *request);

/* Takes "NAME=VALUE". A wrong, unknown or repeated parameter makes the request REQUEST_INVALID;
 * the first problem is reported. */
void query_take(struct query *query, struct slice parameter);

/* Takes the bare value of "n". */
void query_take_rows(struct query *query, struct slice value);

/* After the last: rejects parameters that do not go together. */
void query_end(struct query *query);

/* Whether the format was given. */
bool query_has_format(const struct query *query);

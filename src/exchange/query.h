/* The parameters of a request for the top: "n=5", "by=recent". The same in both dialects, which
 * differ in what stands between them: '&' or a blank. Pure. */
#pragma once
#include "exchange/slice.h"
#include "service/request.h"

struct query {
    struct request *request;
    unsigned given; /* a bit for each parameter */
};

/* Makes *request one for the top that says nothing more. */
void query_begin(struct query *query, struct request *request);

/* Takes "NAME=VALUE". What is wrong, unknown or given twice makes the request REQUEST_INVALID; of
 * several problems the first is told. */
void query_take(struct query *query, struct slice parameter);

/* Takes the value of "n" alone. */
void query_take_rows(struct query *query, struct slice value);

/* After the last: what does not go together makes it invalid too. */
void query_end(struct query *query);

/* Whether the format was said. */
bool query_has_format(const struct query *query);

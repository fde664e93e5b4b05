/* The answer to a request for the top: found in a reading or in the history, completed by
 * details of its rows (threads, command lines), rendered. */
#pragma once
#include "base/text.h"
#include "service/readings.h"
#include "service/request.h"

/* The same for all answers of a server. */
struct answering {
    struct readings readings;
    bool is_afresh;     /* a fresh reading for each request; else a shared one */
    int64_t max_age_ns; /* of a shared one */
    char host[256];     /* this machine's name, any bytes */
};

/* Appends the answer to the body. Returns NULL; or a constant line that says what is wrong, and
 * the body is unchanged. */
const char *top_answer(const struct answering *answering, const struct request *request,
                       struct text *body);

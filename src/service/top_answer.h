/* Answers a request for the top: from a reading or the history, with details of its rows (threads,
 * command lines), rendered. */
#pragma once
#include "base/text.h"
#include "service/readings.h"
#include "service/request.h"

/* The state that all answers of a server share. */
struct answering {
    struct readings readings;
    bool is_afresh;     /* take a fresh reading for each request; else a shared one */
    int64_t max_age_ns; /* of a shared one */
    char host[256];     /* this machine's name, arbitrary bytes */
};

/* Appends the answer to the body. Returns NULL; or a constant line that says what is wrong, with
 * the body unchanged. */
const char *top_answer(const struct answering *answering, const struct request *request,
                       struct text *body);

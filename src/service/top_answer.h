/* The answer to a request for the top: found out, completed with what is read for its rows alone
 * (threads, command lines), and rendered. */
#pragma once
#include "base/text.h"
#include "service/readings.h"
#include "service/request.h"

/* What a server decides once for all answers. */
struct answering {
    struct readings readings;
    bool is_afresh;     /* a reading for each request; else a shared one */
    int64_t max_age_ns; /* that it may have then */
    char host[256];     /* this machine's name, any bytes */
};

/* Appends the answer to the body. Returns NULL; or what is wrong, a constant line, and the body is
 * as it was. */
const char *top_answer(const struct answering *answering, const struct request *request,
                       struct text *body);

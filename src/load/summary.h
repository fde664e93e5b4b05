/* What came of a load, for people and for programs (docs/formats.md). */
#pragma once
#include "base/text.h"
#include "base/usage.h"
#include "load/load.h"
#include "load/percentile.h"

struct summary {
    uint64_t requests, answered;
    uint64_t errors[OUTCOME_COUNT];
    uint64_t connections_opened, bytes_received;
    int64_t elapsed_ns; /* first start to last end */
    double throughput_per_s;
    struct distribution latency, first_byte; /* of answered requests */
    struct usage self, children;             /* of the window */
    const char *problem;                     /* the first failure in words; NULL: none */
    bool full;                               /* ended early: no room for more samples */
};

/* Adds up the workers. 0 or -ENOMEM. */
int summary_make(const struct load *load, struct summary *summary);

/* The paragraph for people. */
void summary_add_text(struct text *text, const struct load *load, const struct summary *summary);

/* The JSON object. */
void summary_add_json(struct text *text, const struct load *load, const struct summary *summary);

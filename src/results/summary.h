/* The results of a load, for people and for programs (docs/formats.md). */
#pragma once
#include "base/text.h"
#include "base/usage.h"
#include "load/load.h"
#include "results/percentile.h"

struct summary {
    uint64_t requests, answered;      /* that started */
    uint64_t outcomes[OUTCOME_COUNT]; /* of all that was due */
    uint64_t connections_opened, bytes_received;
    uint64_t idle_lost, slow_requests, slow_lost;
    int64_t began_ns;   /* CLOCK_MONOTONIC, when the load was begun; set by its caller */
    int64_t elapsed_ns; /* first start to last end */
    double throughput_per_s;
    /* Of answered requests; requests that timed out or never started count with a lower bound. */
    struct distribution latency, first_byte;
    struct distribution late;         /* open: how late the client itself was */
    double achieved_per_s;            /* open: started in the window */
    struct usage self, children;      /* of the load */
    double cpu_share;                 /* share of the CPUs that the client could use, 0 to 1 */
    char client_bound[PROBLEM_LIMIT]; /* why the client was the limit; empty: it was not */
    const char *problem;              /* the first failure in words; NULL: none */
    bool full;                        /* ended early: no room for more samples */
};

/* Adds up the workers. 0 or -ENOMEM. */
int summary_make(const struct load *load, struct summary *summary);

/* The paragraph for people. */
void summary_add_text(struct text *text, const struct load *load, const struct summary *summary);

/* The JSON object. */
void summary_add_json(struct text *text, const struct load *load, const struct summary *summary);

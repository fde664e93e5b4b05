/* The results of a load, as text for people and as JSON for programs (docs/formats.md). */
#pragma once
#include "base/text.h"
#include "base/usage.h"
#include "client/load/load.h"
#include "client/results/percentile.h"

struct summary {
    uint64_t requests, answered;      /* requests that started; answered ones */
    uint64_t outcomes[OUTCOME_COUNT]; /* of all due requests */
    uint64_t connections_opened, bytes_received, resent;
    uint64_t resumed; /* TLS: handshakes that resumed a session */
    const char *tls;  /* version and cipher; NULL: none */
    uint64_t idle_lost, slow_requests, slow_lost;
    int64_t began_ns;   /* CLOCK_MONOTONIC, when the load began; set by the caller */
    int64_t skew_ns;    /* epoll: from the first thread that began to the last one */
    int64_t elapsed_ns; /* first start to last end */
    double throughput_per_s;
    /* Of answered requests; requests that timed out or never started count with a lower bound. */
    struct distribution latency, first_byte;
    struct distribution late; /* open: how late the client itself was */
    /* Server-sent events: from a request to its first one, and from one to the next. */
    struct distribution first_event, next_event;
    double achieved_per_s;            /* open: started in the window */
    struct usage self, children;      /* of the load */
    double cpu_share;                 /* client_bound_cpu_share */
    char client_bound[PROBLEM_LIMIT]; /* why the client was the limit; empty: it was not */
    const char *problem;              /* the first failure in words; NULL: none */
    bool full;                        /* ended early, because no more samples fit */
};

/* Adds up the results of all workers. Returns 0 or -ENOMEM. */
int summary_make(const struct load *load, struct summary *summary);

/* Appends a paragraph for people. */
void summary_add_text(struct text *text, const struct load *load, const struct summary *summary);

/* Appends a JSON object. */
void summary_add_json(struct text *text, const struct load *load, const struct summary *summary);

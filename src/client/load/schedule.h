/* When the requests of an open load are due, independent of server and client. */
#pragma once
#include <stdint.h>

enum arrivals {
    ARRIVALS_EVEN,    /* the i-th at start + i ÷ rate, without drift */
    ARRIVALS_POISSON, /* independent gaps, exponential with mean 1 ÷ rate */
};

/* "even", "poisson" */
const char *arrivals_name(enum arrivals arrivals);

struct schedule {
    int64_t due_ns; /* of the next request, CLOCK_MONOTONIC */
    int64_t start_ns;
    enum arrivals arrivals;
    double gap_ns;    /* mean */
    double offset_ns; /* of the next request from the start */
    uint64_t taken;   /* requests before the next one */
    uint32_t stride;  /* requests from one to the next: of several threads each takes its own */
    uint64_t random;  /* the generator's state */
};

/* The same seed gives the same schedule. */
void schedule_begin(struct schedule *schedule, enum arrivals arrivals, double rate_per_s,
                    uint64_t seed, int64_t start_ns);

/* From the start: only every `of`-th request, from `number` (0 to of − 1) on. The shares of all
 * numbers are together the whole schedule. */
void schedule_share(struct schedule *schedule, uint32_t number, uint32_t of);

/* Advances to the next request. */
void schedule_advance(struct schedule *schedule);

/* When the requests of an open load are due, whatever server and client do. */
#pragma once
#include <stdint.h>

enum arrivals {
    ARRIVALS_EVEN,    /* the i-th at start + i ÷ rate, to the nanosecond however long it runs */
    ARRIVALS_POISSON, /* independent of each other: gaps are exponential with mean 1 ÷ rate */
};

/* "even", "poisson" */
const char *arrivals_name(enum arrivals arrivals);

struct schedule {
    int64_t due_ns; /* of the next request, CLOCK_MONOTONIC */
    int64_t start_ns;
    enum arrivals arrivals;
    double gap_ns;    /* the mean one */
    double offset_ns; /* Poisson: of the next from the start, with its fraction */
    uint64_t taken;   /* requests before the next one */
    uint64_t random;  /* the generator's state */
};

/* The same seed gives the same schedule. */
void schedule_begin(struct schedule *schedule, enum arrivals arrivals, double rate_per_s,
                    uint64_t seed, int64_t start_ns);

/* Moves on to the next request. */
void schedule_advance(struct schedule *schedule);

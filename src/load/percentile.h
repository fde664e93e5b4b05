/* Exact percentiles by nearest rank: the value at position ⌈p·n⌉ of the sorted values. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct distribution {
    size_t count; /* 0: nothing below means anything */
    int64_t min, p50, p90, p99, p99_9, max;
    double mean;
};

/* The value of which `permille` thousandths of the values are at or below. Reorders the values;
 * count is at least 1 and permille 1 to 1000. */
int64_t percentile(int64_t *values, size_t count, unsigned permille);

/* Reorders the values. */
struct distribution distribution_of(int64_t *values, size_t count);

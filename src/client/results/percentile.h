/* Exact percentiles by nearest rank: the value at position ⌈p·n⌉ of the sorted values.
 *
 * Of some values only a lower bound may be known (censored samples). They get the last ranks,
 * whatever their bounds: a percentile before them is never below the true one, and one among them
 * is given as "over" a lower bound. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct distribution {
    size_t count;    /* 0: the rest is undefined */
    size_t at_least; /* how many of them are bounds; with any, mean and max are bounds too */
    int64_t min;     /* of the known values */
    int64_t p50, p90, p99, p99_9, max;
    double mean;
};

/* The values are `known` known ones, followed by `at_least` bounds. Reorders them. */
struct distribution distribution_of(int64_t *values, size_t known, size_t at_least);

/* Whether that percentile (permille: 1 to 1000) is only a lower bound. */
bool distribution_is_over(const struct distribution *values, unsigned permille);

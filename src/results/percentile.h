/* Exact percentiles by nearest rank: the value at position ⌈p·n⌉ of the sorted values.
 *
 * Of some values only a lower bound may be known. They get the last ranks, whatever their bounds: a
 * percentile below them is never less than the truth, and one among them is "over" its lower bound.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct distribution {
    size_t count;    /* 0: the rest is undefined */
    size_t at_least; /* how many of them are bounds; with any, mean and max are "over" */
    int64_t min;     /* of what is known */
    int64_t p50, p90, p99, p99_9, max;
    double mean;
};

/* The value that `permille` thousandths of the values do not exceed. Reorders the values; count is
 * at least 1 and permille 1 to 1000. */
int64_t percentile(int64_t *values, size_t count, unsigned permille);

/* Of `known` values and, behind them, of `at_least` bounds. Reorders the values. */
struct distribution distribution_of(int64_t *values, size_t known, size_t at_least);

/* Whether that percentile is only a lower bound. */
bool distribution_is_over(const struct distribution *values, unsigned permille);

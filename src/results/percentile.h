/* Exact percentiles by nearest rank: the value at position ⌈p·n⌉ of the sorted values.
 *
 * Of some values it may be known only that they are at least so large. They have the last ranks,
 * whatever their bounds are: a percentile below them is never less than the truth, and one that
 * reaches into them is "over" what it is at least. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct distribution {
    size_t count;    /* 0: nothing below means anything */
    size_t at_least; /* how many of them are bounds; the mean and the max are over with one */
    int64_t min;     /* of what is known */
    int64_t p50, p90, p99, p99_9, max;
    double mean;
};

/* The value of which `permille` thousandths of the values are at or below. Reorders the values;
 * count is at least 1 and permille 1 to 1000. */
int64_t percentile(int64_t *values, size_t count, unsigned permille);

/* Of `known` values and, behind them, of `at_least` bounds. Reorders the values. */
struct distribution distribution_of(int64_t *values, size_t known, size_t at_least);

/* Whether that percentile is only known to be at least what it says. */
bool distribution_is_over(const struct distribution *values, unsigned permille);

#include "client/results/percentile.h"

static void swap(int64_t *a, int64_t *b) {
    int64_t old = *a;
    *a = *b;
    *b = old;
}

/* Quickselect: moves the value of rank `rank` (from 0) to that position, smaller ones to its left,
 * larger ones to its right. Linear, where sorting millions of samples would take seconds. */
static void select_rank(int64_t *values, size_t low, size_t high, size_t rank) {
    while (low < high) {
        /* The median of three is the pivot: sorted input is common, and must not be the worst case.
         */
        size_t middle = low + (high - low) / 2;
        if (values[middle] < values[low])
            swap(&values[middle], &values[low]);
        if (values[high] < values[low])
            swap(&values[high], &values[low]);
        if (values[high] < values[middle])
            swap(&values[high], &values[middle]);
        int64_t pivot = values[middle];
        size_t left = low, right = high;
        for (;;) {
            while (values[left] < pivot)
                left++;
            while (pivot < values[right])
                right--;
            if (left >= right)
                break;
            swap(&values[left++], &values[right--]);
        }
        /* low … right ≤ pivot ≤ right + 1 … high */
        if (rank <= right)
            high = right;
        else
            low = right + 1;
    }
}

static size_t rank_of(size_t count, unsigned permille) {
    size_t position = count / 1000 * permille + (count % 1000 * permille + 999) / 1000;
    return position - 1;
}

bool distribution_is_over(const struct distribution *values, unsigned permille) {
    return rank_of(values->count, permille) >= values->count - values->at_least;
}

struct distribution distribution_of(int64_t *values, size_t known, size_t at_least) {
    size_t count = known + at_least;
    struct distribution found = {.count = count, .at_least = at_least};
    if (count == 0)
        return found;
    double sum = 0;
    found.min = values[0];
    for (size_t i = 0; i < count; i++) {
        sum += (double)values[i];
        if (i < known && values[i] < found.min)
            found.min = values[i];
    }
    found.mean = sum / (double)count;
    /* Each selection leaves all larger values to its right, where the next one searches. A
     * percentile among the bounds is computed as if each bound were the value itself. */
    const unsigned permilles[] = {500, 900, 990, 999, 1000};
    int64_t *const results[] = {&found.p50, &found.p90, &found.p99, &found.p99_9, &found.max};
    size_t low = 0, end = known;
    for (size_t i = 0; i < sizeof permilles / sizeof *permilles; i++) {
        size_t rank = rank_of(count, permilles[i]);
        if (rank >= end) {
            low = 0;
            end = count;
        }
        select_rank(values, low, end - 1, rank);
        *results[i] = values[rank];
        low = rank;
    }
    return found;
}

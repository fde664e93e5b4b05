#include "unit.h"

#include "client/results/percentile.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 5000 };

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The definition: the value at position ⌈p·n⌉ of the sorted values; for 0 the smallest. */
static int64_t by_sorting(const int64_t *values, size_t count, unsigned permille) {
    static int64_t sorted[MANY];
    memcpy(sorted, values, count * sizeof *values);
    qsort(sorted, count, sizeof *sorted, ascending);
    size_t position = (count * permille + 999) / 1000;
    return sorted[position > 0 ? position - 1 : 0];
}

static void check_all(const int64_t *values, size_t count) {
    static int64_t copy[MANY];
    memcpy(copy, values, count * sizeof *values);
    struct distribution found = distribution_of(copy, count, 0);
    assert_int_equal(found.count, count);
    assert_int_equal(found.p50, by_sorting(values, count, 500));
    assert_int_equal(found.p90, by_sorting(values, count, 900));
    assert_int_equal(found.p99, by_sorting(values, count, 990));
    assert_int_equal(found.p99_9, by_sorting(values, count, 999));
    assert_int_equal(found.max, by_sorting(values, count, 1000));
    assert_int_equal(found.min, by_sorting(values, count, 0));
}

TEST(one_value_is_every_percentile) {
    check_all((int64_t[]){42}, 1);
}

TEST(the_rank_is_the_nearest_above) {
    int64_t ten[] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
    struct distribution found = distribution_of(ten, 10, 0);
    assert_int_equal(found.p50, 50);
    assert_int_equal(found.p90, 90);
    assert_int_equal(found.p99, 100);
}

TEST(any_order_gives_what_sorting_gives) {
    static int64_t values[MANY];
    unsigned random = 7342;
    for (size_t count = 1; count <= MANY; count = count < 40 ? count + 1 : count * 3) {
        for (int order = 0; order < 5; order++) {
            for (size_t i = 0; i < count; i++) {
                random = random * 1103515245 + 12345;
                values[i] = order == 0   ? (int64_t)i
                            : order == 1 ? (int64_t)(count - i)
                            : order == 2 ? 7
                            : order == 3 ? (int64_t)(random >> 16) % 5 /* many equal ones */
                                         : (int64_t)random - 1000000000;
            }
            check_all(values, count);
        }
    }
}

TEST(lower_bounds_have_the_last_ranks) {
    int64_t ten[] = {50, 10, 40, 20, 30, 60, 5, 8, 25, 1};
    struct distribution found = distribution_of(ten, 6, 4);
    assert_int_equal(found.count, 10);
    assert_int_equal(found.at_least, 4);
    assert_int_equal(found.min, 10);
    assert_int_equal(found.p50, 50);
    assert_false(distribution_is_over(&found, 500));
    assert_false(distribution_is_over(&found, 600));
    assert_true(distribution_is_over(&found, 601));
    assert_true(distribution_is_over(&found, 900));
    assert_int_equal(found.p90, 50); /* the ninth, if each bound were the value */
    assert_int_equal(found.max, 60);
    int64_t none_known[] = {7, 3};
    found = distribution_of(none_known, 0, 2);
    assert_true(distribution_is_over(&found, 1));
    assert_int_equal(found.p50, 3);
    assert_int_equal(found.max, 7);
}

/* Whatever the true values, a percentile is not below the truth, and a lower bound is not above it.
 */
TEST(no_percentile_is_below_the_truth) {
    enum { LIMIT = 400 };
    static int64_t values[LIMIT], truth[LIMIT];
    unsigned random = 99;
    for (size_t count = 1; count <= LIMIT; count++) {
        random = random * 1103515245 + 12345;
        size_t known = (random >> 16) % (count + 1);
        for (size_t i = 0; i < count; i++) {
            random = random * 1103515245 + 12345;
            values[i] = (random >> 16) % 1000;
            truth[i] = values[i] + (i < known ? 0 : (random >> 8) % 1500);
        }
        struct distribution found = distribution_of(values, known, count - known);
        const int64_t said[] = {found.p50, found.p90, found.p99, found.p99_9, found.max};
        const unsigned permilles[] = {500, 900, 990, 999, 1000};
        for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
            int64_t right = by_sorting(truth, count, permilles[i]);
            if (distribution_is_over(&found, permilles[i]))
                assert_true(said[i] <= right);
            else
                assert_true(said[i] >= right);
        }
    }
}

TEST(the_mean_is_the_mean) {
    struct distribution found = distribution_of((int64_t[]){1, 2, 4, 8}, 4, 0);
    assert_true(found.mean > 3.7499 && found.mean < 3.7501);
}

TEST(no_values_have_no_distribution) {
    int64_t none;
    assert_int_equal(distribution_of(&none, 0, 0).count, 0);
}

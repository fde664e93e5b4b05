#include "unit.h"

#include "base/clock.h"
#include "client/load/schedule.h"

#include <math.h>

enum { GAPS = 200 * 1000 };
static const int64_t START_NS = (int64_t)5000 * NS_PER_S;

static double gaps_ns[GAPS];

/* The gaps between GAPS requests, the first one from the start. */
static void draw(double rate_per_s, uint64_t seed) {
    struct schedule schedule;
    schedule_begin(&schedule, ARRIVALS_POISSON, rate_per_s, seed, START_NS);
    int64_t previous_ns = START_NS;
    for (int i = 0; i < GAPS; i++) {
        assert_true(schedule.due_ns >= previous_ns);
        gaps_ns[i] = (double)(schedule.due_ns - previous_ns);
        previous_ns = schedule.due_ns;
        schedule_advance(&schedule);
    }
}

static double mean_of(const double *values, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    return sum / count;
}

static double variance_of(const double *values, int count) {
    double mean = mean_of(values, count), sum = 0;
    for (int i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sum / (count - 1);
}

static void assert_near(double found, double expected, double error) {
    if (!(fabs(found - expected) <= error))
        fail_msg("%g is not within %g of %g", found, error, expected);
}

TEST(even_arrivals_never_drift) {
    static const uint64_t RATES[] = {1, 3, 7, 999, 4000, 123457, 10000000};
    for (size_t r = 0; r < sizeof RATES / sizeof *RATES; r++) {
        struct schedule schedule;
        schedule_begin(&schedule, ARRIVALS_EVEN, (double)RATES[r], 1, START_NS);
        for (uint64_t i = 0; i < 2 * 1000 * 1000 && i / RATES[r] < 86400; i++) {
            int64_t exact_ns = START_NS + (int64_t)(i * NS_PER_S / RATES[r]);
            if (schedule.due_ns < exact_ns - 1 || schedule.due_ns > exact_ns)
                fail_msg("request %lu at %lu/s is due %ld ns off", (unsigned long)i,
                         (unsigned long)RATES[r], (long)(schedule.due_ns - exact_ns));
            schedule_advance(&schedule);
        }
    }
}

TEST(a_rate_may_have_a_fraction) {
    struct schedule schedule;
    schedule_begin(&schedule, ARRIVALS_EVEN, 0.5, 1, START_NS);
    assert_int_equal(schedule.due_ns, START_NS);
    schedule_advance(&schedule);
    assert_int_equal(schedule.due_ns, START_NS + (int64_t)2 * NS_PER_S);
}

/* Each bound is five standard errors. */
TEST(poisson_gaps_are_exponential) {
    static const double RATES[] = {0.5, 1000, 250000};
    for (size_t r = 0; r < sizeof RATES / sizeof *RATES; r++) {
        for (uint64_t seed = 0; seed < 4; seed++) {
            double expected = NS_PER_S / RATES[r];
            draw(RATES[r], seed);
            assert_near(mean_of(gaps_ns, GAPS), expected, 5 * expected / sqrt(GAPS));
            assert_near(variance_of(gaps_ns, GAPS), expected * expected,
                        5 * expected * expected * sqrt(8.0 / GAPS));
            for (int tenth = 1; tenth < 10; tenth++) {
                double quantile = tenth / 10.0;
                int below = 0;
                for (int i = 0; i < GAPS; i++)
                    below += gaps_ns[i] < -log(1 - quantile) * expected;
                assert_near((double)below / GAPS, quantile,
                            5 * sqrt(quantile * (1 - quantile) / GAPS));
            }
        }
    }
}

/* In a Poisson process the variance of counts in equal spans is their mean; correlated exponential
 * gaps would show here. */
TEST(poisson_counts_vary_as_much_as_their_mean) {
    enum { SPANS = 10000 };
    static double counts[SPANS];
    const int64_t span_ns = (int64_t)10 * NS_PER_MS;
    struct schedule schedule;
    schedule_begin(&schedule, ARRIVALS_POISSON, 1000, 1, START_NS);
    for (int i = 0; i < SPANS; i++)
        for (counts[i] = 0; schedule.due_ns < START_NS + (i + 1) * span_ns; counts[i]++)
            schedule_advance(&schedule);
    assert_near(mean_of(counts, SPANS), 10, 5 * sqrt(10.0 / SPANS));
    assert_near(variance_of(counts, SPANS) / mean_of(counts, SPANS), 1, 5 * sqrt(2.0 / SPANS));
}

TEST(the_seed_determines_the_schedule) {
    struct schedule one, same, other;
    schedule_begin(&one, ARRIVALS_POISSON, 1000, 7, START_NS);
    schedule_begin(&same, ARRIVALS_POISSON, 1000, 7, START_NS);
    schedule_begin(&other, ARRIVALS_POISSON, 1000, 8, START_NS);
    int differ = 0;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(one.due_ns, same.due_ns);
        differ += one.due_ns != other.due_ns;
        schedule_advance(&one);
        schedule_advance(&same);
        schedule_advance(&other);
    }
    assert_true(differ > 990);
}

TEST(shares_are_together_the_whole_schedule) {
    enum { THREADS = 3, EACH = 1000 };
    for (enum arrivals arrivals = ARRIVALS_EVEN; arrivals <= ARRIVALS_POISSON; arrivals++) {
        struct schedule whole, shares[THREADS];
        schedule_begin(&whole, arrivals, 12345, 7, START_NS);
        for (uint32_t i = 0; i < THREADS; i++) {
            schedule_begin(&shares[i], arrivals, 12345, 7, START_NS);
            schedule_share(&shares[i], i, THREADS);
        }
        for (int i = 0; i < THREADS * EACH; i++) {
            assert_int_equal(shares[i % THREADS].due_ns, whole.due_ns);
            schedule_advance(&shares[i % THREADS]);
            schedule_advance(&whole);
        }
    }
}

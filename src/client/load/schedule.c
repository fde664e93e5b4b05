#include "client/load/schedule.h"

#include "base/clock.h"

#include <math.h>

const char *arrivals_name(enum arrivals arrivals) {
    static const char *const NAMES[] = {"even", "poisson"};
    return NAMES[arrivals];
}

/* splitmix64: 64 good bits from any seed in a few instructions. */
static uint64_t random_bits(uint64_t *state) {
    uint64_t bits = *state += 0x9E3779B97F4A7C15;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
    return bits ^ (bits >> 31);
}

/* In (0, 1], so that its logarithm is finite. */
static double random_fraction(uint64_t *state) {
    return (double)((random_bits(state) >> 11) + 1) * 0x1p-53;
}

static void set_due(struct schedule *schedule) {
    /* Computed from the start, because the sum of rounded gaps would drift from the rate. */
    if (schedule->arrivals == ARRIVALS_EVEN)
        schedule->offset_ns = (double)schedule->taken * schedule->gap_ns;
    else
        schedule->offset_ns -= log(random_fraction(&schedule->random)) * schedule->gap_ns;
    schedule->due_ns = schedule->start_ns + (int64_t)schedule->offset_ns;
}

void schedule_begin(struct schedule *schedule, enum arrivals arrivals, double rate_per_s,
                    uint64_t seed, int64_t start_ns) {
    *schedule = (struct schedule){
        .start_ns = start_ns,
        .arrivals = arrivals,
        .gap_ns = NS_PER_S / rate_per_s,
        .random = seed,
        .stride = 1,
    };
    set_due(schedule);
}

static void skip(struct schedule *schedule, uint32_t requests) {
    for (uint32_t i = 0; i < requests; i++) {
        schedule->taken++;
        set_due(schedule);
    }
}

void schedule_share(struct schedule *schedule, uint32_t number, uint32_t of) {
    skip(schedule, number);
    schedule->stride = of;
}

void schedule_advance(struct schedule *schedule) {
    skip(schedule, schedule->stride);
}

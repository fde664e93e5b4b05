#include "service/tally.h"

#include "base/clock.h"

#include <string.h>

const char *const tally_sources[TALLY_SOURCES] = {"procfs", "bpf"};

/* A reading by bpf takes tens of microseconds, one by procfs milliseconds. */
const struct tally_bucket tally_buckets[TALLY_BUCKETS] = {
    {25 * NS_PER_US, "2.5e-05"},  {50 * NS_PER_US, "5e-05"},   {100 * NS_PER_US, "0.0001"},
    {250 * NS_PER_US, "0.00025"}, {500 * NS_PER_US, "0.0005"}, {1 * NS_PER_MS, "0.001"},
    {2500 * NS_PER_US, "0.0025"}, {5 * NS_PER_MS, "0.005"},    {10 * NS_PER_MS, "0.01"},
    {25 * NS_PER_MS, "0.025"},    {50 * NS_PER_MS, "0.05"},    {100 * NS_PER_MS, "0.1"},
    {250 * NS_PER_MS, "0.25"},    {500 * NS_PER_MS, "0.5"},    {1000 * NS_PER_MS, "1.0"},
    {INT64_MAX, "+Inf"},
};

void tally_reading(struct tally *tally, const struct scan *scan, int64_t took_ns) {
    if (scan == NULL) {
        atomic_fetch_add_explicit(&tally->failures, 1, memory_order_relaxed);
        return;
    }
    struct tally_source *source = &tally->of[strcmp(scan->source, tally_sources[1]) == 0];
    unsigned bucket = 0;
    while (took_ns > tally_buckets[bucket].ns)
        bucket++;
    atomic_fetch_add_explicit(&source->ns, (uint64_t)took_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&source->took[bucket], 1, memory_order_relaxed);
}

uint64_t tally_count(const struct tally *tally) {
    uint64_t count = atomic_load_explicit(&tally->failures, memory_order_relaxed);
    for (unsigned i = 0; i < TALLY_SOURCES; i++)
        for (unsigned bucket = 0; bucket < TALLY_BUCKETS; bucket++)
            count += atomic_load_explicit(&tally->of[i].took[bucket], memory_order_relaxed);
    return count;
}

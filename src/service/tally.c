#include "service/tally.h"

#include "base/clock.h"

#include <string.h>

static const char *const sources[TALLY_SOURCES] = {"procfs", "bpf"};

/* Upper bounds, and how OpenMetrics wants them written: as the shortest floating point number that
 * is the same. A reading by bpf takes tens of microseconds, one by procfs milliseconds. */
static const struct {
    int64_t ns;
    const char *text;
} bounds[TALLY_BUCKETS] = {
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
    struct tally_source *source = &tally->of[strcmp(scan->source, sources[1]) == 0];
    unsigned bucket = 0;
    while (took_ns > bounds[bucket].ns)
        bucket++;
    atomic_fetch_add_explicit(&source->ns, (uint64_t)took_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&source->took[bucket], 1, memory_order_relaxed);
}

static uint64_t load(const _Atomic uint64_t *counter) {
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void add_sample(struct exposition *exposition, const char *suffix, const char *source) {
    exposition_sample(exposition, suffix);
    exposition_label(exposition, "source", source);
}

/* Each bucket counts those below it too. The count is theirs, read once: it cannot differ. */
static void expose_source(const struct tally_source *tally, const char *source,
                          struct exposition *exposition) {
    uint64_t count = 0;
    for (unsigned bucket = 0; bucket < TALLY_BUCKETS; bucket++) {
        count += load(&tally->took[bucket]);
        add_sample(exposition, "_bucket", source);
        exposition_label(exposition, "le", bounds[bucket].text);
        exposition_count(exposition, count);
    }
    add_sample(exposition, "_count", source);
    exposition_count(exposition, count);
    add_sample(exposition, "_sum", source);
    exposition_seconds(exposition, (int64_t)load(&tally->ns));
}

/* Of a source that the machine does not have there is nothing to say. */
static bool is_used(const struct tally_source *tally) {
    return load(&tally->ns) > 0;
}

void tally_expose(const struct tally *tally, struct exposition *exposition) {
    exposition_family(exposition, METRIC_HISTOGRAM, "regatta_scan_duration_seconds", "seconds",
                      "Duration of complete readings of all processes.");
    for (unsigned i = 0; i < TALLY_SOURCES; i++)
        if (is_used(&tally->of[i]))
            expose_source(&tally->of[i], sources[i], exposition);
    exposition_one(exposition, METRIC_COUNTER, "regatta_scan_failures", NULL,
                   "Failed readings, for instance for lack of descriptors.",
                   load(&tally->failures));
}

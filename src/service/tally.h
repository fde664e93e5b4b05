/* What readings of all processes cost and came to, counted in memory that forked processes share.
 * Safe in several threads and processes at once; a struct of zeroes is an empty tally. */
#pragma once
#include "top/scan.h"

#include <stdatomic.h>
#include <stdint.h>

enum { TALLY_SOURCES = 2, TALLY_BUCKETS = 16 };

struct tally {
    struct tally_source {
        _Atomic uint64_t took[TALLY_BUCKETS]; /* readings, by how long they took */
        _Atomic uint64_t ns;                  /* all of them together */
    } of[TALLY_SOURCES];
    _Atomic uint64_t failures;
};

/* A reading that took so long by the clock; scan: NULL if it failed. */
void tally_reading(struct tally *tally, const struct scan *scan, int64_t took_ns);

extern const char *const tally_sources[TALLY_SOURCES];

/* Upper bounds, and how OpenMetrics wants them written: as the shortest floating point number that
 * is the same. */
extern const struct tally_bucket {
    int64_t ns;
    const char *text;
} tally_buckets[TALLY_BUCKETS];

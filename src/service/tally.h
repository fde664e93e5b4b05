/* A histogram of the durations of readings, in memory that forked processes share. Safe in several
 * threads and processes at once; a struct of zeroes is an empty tally. */
#pragma once
#include "service/top/scan.h"

#include <stdatomic.h>
#include <stdint.h>

enum { TALLY_SOURCES = 2, TALLY_BUCKETS = 16 };

struct tally {
    struct tally_source {
        _Atomic uint64_t took[TALLY_BUCKETS]; /* readings, by how long they took */
        _Atomic uint64_t ns;                  /* total duration */
    } of[TALLY_SOURCES];
    _Atomic uint64_t failures;
};

/* Counts a reading; scan: NULL if it failed. */
void tally_reading(struct tally *tally, const struct scan *scan, int64_t took_ns);

/* Readings so far, including failed ones. */
uint64_t tally_count(const struct tally *tally);

extern const char *const tally_sources[TALLY_SOURCES];

/* Upper bounds, and their text for OpenMetrics: the shortest decimal form. */
extern const struct tally_bucket {
    int64_t ns;
    const char *text;
} tally_buckets[TALLY_BUCKETS];

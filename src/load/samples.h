/* One record per request.
 *
 * The memory of all workers is reserved once, shared with children, and costs nothing until it is
 * written: recording a sample is a few stores, and no worker waits for another. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum outcome {
    OUTCOME_ANSWERED,
    OUTCOME_CONNECT,   /* no connection */
    OUTCOME_TIMEOUT,   /* no complete reply in time */
    OUTCOME_CLOSED,    /* the connection ended before the reply was complete */
    OUTCOME_MALFORMED, /* not a valid reply (docs/formats.md) */
    OUTCOME_REFUSED,   /* an error reply */
    OUTCOME_UNSTARTED, /* open load: due, and not started when the window ended; no failure */
    OUTCOME_COUNT
};

/* "connect", "timeout" ...; "answered" for the first. */
const char *outcome_name(enum outcome outcome);

struct sample {
    int64_t start_ns, first_byte_ns, end_ns;
    uint32_t connection;
    uint16_t error; /* enum outcome */
    uint16_t told;  /* which processes, as rows_told() has it */
};

/* The records of one worker. */
struct samples {
    struct sample *records;
    size_t count, limit;
};

/* Reserves memory for `limit` records and divides it evenly among `workers` arrays, `stride` bytes
 * apart. Returns 0 or -errno. */
int samples_reserve(struct samples *first, size_t workers, size_t stride, size_t limit);

/* false: the worker's share is full. The record is complete before it is counted: a process that
 * dies at any moment leaves no partial record. */
static inline bool samples_add(struct samples *samples, const struct sample *sample) {
    if (samples->count == samples->limit)
        return false;
    samples->records[samples->count] = *sample;
    __atomic_store_n(&samples->count, samples->count + 1, __ATOMIC_RELEASE);
    return true;
}

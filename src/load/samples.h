/* One record a request.
 *
 * The memory of all workers is reserved once, shared with children, and costs nothing until it is
 * written to: recording a sample is a few stores, and no worker ever waits for another's. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum outcome {
    OUTCOME_ANSWERED,
    OUTCOME_CONNECT,   /* no connection */
    OUTCOME_TIMEOUT,   /* no complete reply in time */
    OUTCOME_CLOSED,    /* the connection ended before the reply was complete */
    OUTCOME_MALFORMED, /* not a reply as docs/formats.md has it */
    OUTCOME_REFUSED,   /* an error reply */
    OUTCOME_UNSTARTED, /* open load: due, and not started when the window ended; no failure */
    OUTCOME_COUNT
};

/* "connect", "timeout" ...; "answered" for the first. */
const char *outcome_name(enum outcome outcome);

struct sample {
    int64_t start_ns, first_byte_ns, end_ns;
    uint32_t connection;
    uint32_t error; /* enum outcome */
};

/* The records of one worker. */
struct samples {
    struct sample *records;
    size_t count, limit;
};

/* Reserves memory for `limit` records in all and shares it out evenly among `workers` arrays,
 * `stride` bytes apart. Returns 0 or -errno. */
int samples_reserve(struct samples *first, size_t workers, size_t stride, size_t limit);

/* false: the worker's share is used up. The record is whole before it is counted: a process that
 * dies at any moment leaves no half of one. */
static inline bool samples_add(struct samples *samples, const struct sample *sample) {
    if (samples->count == samples->limit)
        return false;
    samples->records[samples->count] = *sample;
    __atomic_store_n(&samples->count, samples->count + 1, __ATOMIC_RELEASE);
    return true;
}

/* One record per request.
 *
 * Memory for all workers is reserved once and shared with child processes; untouched pages cost
 * nothing. Recording a sample is a few stores, and no worker waits for another. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum outcome {
    OUTCOME_ANSWERED,
    OUTCOME_CONNECT,   /* could not connect */
    OUTCOME_TIMEOUT,   /* no complete reply within the timeout */
    OUTCOME_CLOSED,    /* the connection ended before the reply was complete */
    OUTCOME_MALFORMED, /* not a valid reply (docs/formats.md) */
    OUTCOME_REFUSED,   /* an error reply */
    OUTCOME_UNSTARTED, /* open load: due but not started when the window ended; not a failure */
    OUTCOME_CHANGED,   /* not the reply that a look before the load saw */
    OUTCOME_EARLY,     /* the reply was complete before the server had received the request */
    OUTCOME_COUNT
};

/* "connect", "timeout" ...; "answered" for the first. */
const char *outcome_name(enum outcome outcome);

/* Whether it is that of a request that failed. */
static inline bool outcome_is_failure(enum outcome outcome) {
    return outcome != OUTCOME_ANSWERED && outcome != OUTCOME_UNSTARTED;
}

struct sample {
    int64_t start_ns, first_byte_ns, end_ns;
    uint32_t connection;
    uint16_t error;       /* enum outcome */
    uint16_t pids_digest; /* which processes, as rows_pids_digest() has it */
};

/* Of one worker. */
struct samples {
    struct sample *records;
    size_t count, limit;
};

/* Reserves memory for `limit` records and divides it evenly among the structs of `workers` workers,
 * which are `stride` bytes apart. Returns 0 or -errno. */
int samples_reserve(struct samples *first, size_t workers, size_t stride, size_t limit);

/* Of one worker: durations in ns; a negative one is its own lower bound. */
struct times {
    int64_t *ns;
    size_t count, limit;
};

/* Pages are allocated as they are written. Returns 0 or -errno. */
int times_reserve(struct times *times, size_t limit);

/* Returns false if it is full. */
static inline bool times_add(struct times *times, int64_t ns) {
    if (times->count == times->limit)
        return false;
    times->ns[times->count++] = ns;
    return true;
}

/* Returns false if the worker's share is full. The record is written before it is counted, so a
 * process that dies leaves no partial record. */
static inline bool samples_add(struct samples *samples, const struct sample *sample) {
    if (samples->count == samples->limit)
        return false;
    samples->records[samples->count] = *sample;
    __atomic_store_n(&samples->count, samples->count + 1, __ATOMIC_RELEASE);
    return true;
}

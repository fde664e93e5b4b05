/* The server's counters, in memory that threads and forked processes share. */
#pragma once
#include "service/exchange/exchange.h"

#include <assert.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum error_kind {
    ERROR_MALFORMED,    /* a request that was not understood */
    ERROR_TOO_LONG,     /* a request beyond the limits */
    ERROR_NOT_FOUND,    /* no such page */
    ERROR_TIMEOUT,      /* a client that was too slow to send a request or read its replies */
    ERROR_DISCONNECTED, /* a client that disconnected before its reply was sent */
    ERROR_REFUSED,      /* a connection refused at a limit */
    ERROR_ACCEPT,       /* accept failed */
    ERROR_UNAVAILABLE,  /* the work failed */
    ERROR_DENIED,       /* a client without access: its address, its token, the host it named */
    ERROR_KINDS
};

extern const char *const error_names[ERROR_KINDS];

/* Replies are counted by status and dialect. */
enum { STATS_STATUSES = 12, STATS_DIALECTS = 2 };

/* The counters of one worker of a pool; a design without a pool counts as one worker. On its own
 * cache lines, as it is written for each request; successful replies are on the first. */
struct worker_stats {
    alignas(64) _Atomic uint64_t connections;
    _Atomic uint64_t
        open; /* held now, where the worker is a process or serves one client at a time */
    _Atomic int32_t pid; /* of the worker process; 0: none */
    _Atomic uint64_t replies[STATS_STATUSES][STATS_DIALECTS];
};

/* Counters that several workers write for each connection have cache lines of their own: an
 * addition costs 2 ns, but up to 9 if another CPU has just written to the line. */
struct stats {
    int64_t started_at_ns; /* Unix time */
    int32_t pid;           /* of the main process */
    unsigned worker_count;
    alignas(64) _Atomic uint64_t connections; /* accepted */
    /* Open connections that no worker counts: in designs where this counter enforces
     * --max-connections, and of clients that wait for a worker. */
    alignas(64) _Atomic uint64_t open;
    alignas(64) _Atomic uint64_t replaced; /* workers that died and were replaced */
    _Atomic uint32_t output_shares_used;   /* how many have been in use (output_shares.h) */
    _Atomic uint64_t wrong_tokens;
    _Atomic uint64_t errors[ERROR_KINDS];
    _Atomic int64_t reaped_ns;   /* CPU time of worker processes that have ended */
    _Atomic int64_t reported_ns; /* CPU time of the server as last reported */
    struct worker_stats loop; /* answered by the event loop itself in a design with a worker pool */
    struct worker_stats workers[];
};

static_assert(offsetof(struct stats, connections) >= 64 &&
                  offsetof(struct stats, open) - offsetof(struct stats, connections) >= 64 &&
                  offsetof(struct stats, replaced) - offsetof(struct stats, open) >= 64 &&
                  sizeof(struct worker_stats) % 64 == 0,
              "on lines of their own");

/* All zero but the start time and pid; NULL: out of memory. */
struct stats *stats_create(unsigned workers);
void stats_destroy(struct stats *stats);

/* Requests answered by all workers and the loop. */
uint64_t stats_requests(const struct stats *stats);

/* By one worker. */
uint64_t worker_requests(const struct worker_stats *worker);

/* The statuses in the order of the counters, the most frequent first. */
extern const enum status stats_statuses[STATS_STATUSES];

/* A status's index in that order. */
unsigned stats_index(enum status status);

/* Adds the CPU time of a worker process that has ended. Safe in signal handlers. */
struct rusage;
void stats_add_reaped(struct stats *stats, const struct rusage *used);

/* Open connections. */
uint64_t stats_open(const struct stats *stats);

static inline void stats_add(_Atomic uint64_t *counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static inline void stats_subtract(_Atomic uint64_t *counter) {
    atomic_fetch_sub_explicit(counter, 1, memory_order_relaxed);
}

/* One request was answered: a single addition on the worker's own cache line. */
static inline void stats_add_reply(struct worker_stats *worker, enum status status,
                                   enum dialect dialect) {
    unsigned index = status == STATUS_OK ? 0 : stats_index(status);
    stats_add(&worker->replies[index][dialect == DIALECT_HTTP]);
}

static inline uint64_t stats_read(const _Atomic uint64_t *counter) {
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* What the server counted, in memory that threads and forked processes share. */
#pragma once
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

enum error_kind {
    ERROR_MALFORMED,    /* a request that was not understood */
    ERROR_TOO_LONG,     /* a request beyond the limits */
    ERROR_NOT_FOUND,    /* no such page */
    ERROR_TIMEOUT,      /* a client that kept silent for too long */
    ERROR_DISCONNECTED, /* a client that went away before its reply was sent */
    ERROR_REFUSED,      /* a connection turned away at a limit */
    ERROR_ACCEPT,       /* accept failed */
    ERROR_UNAVAILABLE,  /* the work failed */
    ERROR_DENIED,       /* a client that may not ask: its address, or no token or a wrong one */
    ERROR_KINDS
};

extern const char *const error_names[ERROR_KINDS];

/* What one worker of a pool served; a design without a pool counts as one worker. On a cache line
 * of its own: it is written to for each request. */
struct worker_stats {
    alignas(64) _Atomic uint64_t connections;
    _Atomic uint64_t requests;
};

struct stats {
    _Atomic uint64_t connections; /* accepted */
    _Atomic uint64_t open;        /* connections held now, where --max-connections is kept by it */
    _Atomic uint64_t replaced;    /* workers that died and were replaced */
    _Atomic uint64_t errors[ERROR_KINDS];
    unsigned worker_count;
    struct worker_stats workers[];
};

/* All zero; NULL if there is no memory. */
struct stats *stats_create(unsigned workers);
void stats_destroy(struct stats *stats);

/* Of all workers. */
uint64_t stats_requests(const struct stats *stats);

static inline void stats_add(_Atomic uint64_t *counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static inline uint64_t stats_read(const _Atomic uint64_t *counter) {
    return atomic_load_explicit(counter, memory_order_relaxed);
}

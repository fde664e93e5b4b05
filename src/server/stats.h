/* What the server counted, in memory that threads and forked processes share. */
#pragma once
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
    ERROR_KINDS
};

extern const char *const error_names[ERROR_KINDS];

struct stats {
    _Atomic uint64_t requests;
    _Atomic uint64_t connections;
    _Atomic uint64_t errors[ERROR_KINDS];
};

/* All zero; NULL if there is no memory. */
struct stats *stats_create(void);
void stats_destroy(struct stats *stats);

static inline void stats_add(_Atomic uint64_t *counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static inline uint64_t stats_read(const _Atomic uint64_t *counter) {
    return atomic_load_explicit(counter, memory_order_relaxed);
}

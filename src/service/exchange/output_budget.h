/* A limit on the memory of unsent replies, over all connections of a process.
 *
 * Only large replies count: one that fits into a new buffer (BUFFER_FIRST_BYTES) never touches the
 * counter that all threads share. Nor does one in a larger pooled buffer (BUFFER_KEPT_BYTES), while
 * the thread has at most BUFFERS_KEPT buffers in use. So in addition to the budget, memory may hold
 * one new buffer per connection and, per thread, BUFFERS_KEPT pooled buffers and one reply. */
#pragma once
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output_budget {
    alignas(64) _Atomic uint64_t in_use; /* bytes */
    uint64_t limit;                      /* bytes */
};

/* While true, large replies must wait until others have been sent. */
static inline bool output_budget_is_spent(const struct output_budget *budget) {
    return atomic_load_explicit(&budget->in_use, memory_order_relaxed) >= budget->limit;
}

/* Changes one connection's share of the budget from *share to `bytes`. A NULL budget counts
 * nothing. */
static inline void output_budget_set(struct output_budget *budget, uint32_t *share,
                                     uint32_t bytes) {
    if (budget != NULL && bytes != *share)
        atomic_fetch_add_explicit(&budget->in_use, (uint64_t)bytes - *share, memory_order_relaxed);
    *share = bytes;
}

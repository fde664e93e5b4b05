/* What replies hold in memory until their clients have taken them, all connections of a process
 * together.
 *
 * Counted is what an ordinary reply does not need: whoever fits into the first buffer
 * (BUFFER_FIRST_BYTES) never touches the counter that all threads share. Nor does one in a larger
 * buffer that its thread has kept (BUFFER_KEPT_BYTES), while no more are in use than a thread keeps
 * (BUFFERS_KEPT). So beside the budget there may be one first buffer for each connection, and for
 * each thread the kept ones and one reply more. */
#pragma once
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output_budget {
    alignas(64) _Atomic uint64_t held; /* bytes */
    uint64_t limit;
};

/* Whether it is used up: large replies are to wait until others are taken. */
static inline bool output_budget_is_spent(const struct output_budget *budget) {
    return atomic_load_explicit(&budget->held, memory_order_relaxed) >= budget->limit;
}

/* One that held *held bytes holds so many from now on. NULL: nobody counts. */
static inline void output_budget_hold(struct output_budget *budget, uint32_t *held,
                                      uint32_t bytes) {
    if (budget != NULL && bytes != *held)
        atomic_fetch_add_explicit(&budget->held, (uint64_t)bytes - *held, memory_order_relaxed);
    *held = bytes;
}

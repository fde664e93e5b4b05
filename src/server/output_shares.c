#include "server/output_shares.h"

#include "base/hot.h"
#include "base/limits.h"
#include "base/shared_memory.h"
#include "server/stats.h"

#include <errno.h>
#include <unistd.h>

static uint64_t share_of(pid_t pid, uint32_t bytes) {
    return (uint64_t)pid << 32 | bytes;
}

int output_shares_open(struct output_shares *shares, unsigned processes) {
    shares->count = processes;
    shares->shares = shared_memory_map(processes * sizeof *shares->shares);
    return shares->shares != NULL ? 0 : -ENOMEM;
}

void output_shares_close(struct output_shares *shares) {
    shared_memory_unmap(shares->shares, shares->count * sizeof *shares->shares);
    shares->shares = NULL;
}

/* Never falls: a share could be taken meanwhile. */
static void note_used(struct stats *stats, uint32_t count) {
    uint32_t before = atomic_load(&stats->output_shares_used);
    while (before < count &&
           !atomic_compare_exchange_weak(&stats->output_shares_used, &before, count))
        continue;
}

/* The first that is free, so that few are ever in use. */
_Atomic uint64_t *output_shares_take(const struct output_shares *shares, struct stats *stats,
                                     uint32_t bytes) {
    if (shares->shares == NULL)
        return NULL;
    const uint64_t own = share_of(getpid(), bytes);
    for (uint32_t i = 0; i < shares->count; i++) {
        uint64_t free = 0;
        if (atomic_load_explicit(&shares->shares[i], memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong(&shares->shares[i], &free, own)) {
            note_used(stats, i + 1);
            return &shares->shares[i];
        }
    }
    return NULL;
}

void output_shares_forget(const struct output_shares *shares, const struct stats *stats,
                          pid_t pid) {
    const uint32_t used = atomic_load(&stats->output_shares_used);
    for (uint32_t i = 0; i < used; i++)
        if (atomic_load(&shares->shares[i]) >> 32 == (uint64_t)pid)
            atomic_store(&shares->shares[i], 0);
}

static uint64_t sum(const struct output_shares *shares, uint32_t used) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < used; i++)
        bytes += (uint32_t)atomic_load_explicit(&shares->shares[i], memory_order_relaxed);
    return bytes;
}

HOT bool output_shares_reach(const struct output_shares *shares, const struct stats *stats,
                             uint64_t limit) {
    if (shares->shares == NULL)
        return false;
    const uint32_t used = atomic_load_explicit(&stats->output_shares_used, memory_order_relaxed);
    return used * (uint64_t)OUTPUT_LIMIT >= limit && sum(shares, used) >= limit;
}

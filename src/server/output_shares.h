/* --max-output over processes that serve one client each: what each has pending, in shared memory.
 *
 * A process writes its share only while it sends a large reply. There is no total, as it would be
 * wrong for ever once a process is killed: the shares are added up, but only once so many were in
 * use that their sum may reach the limit. The parent frees the share of a process that was killed.
 * Before each request a process reads one number, which is in memory that it reads anyway. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct stats;

struct output_shares {
    _Atomic uint64_t *shares; /* pid and bytes of each; 0: free. NULL: a single process */
    uint32_t count;
};

/* For so many processes. Returns 0 or -ENOMEM. To be called before the first fork. */
int output_shares_open(struct output_shares *shares, unsigned processes);
void output_shares_close(struct output_shares *shares);

/* For this process, until output_shares_release. NULL: there are no shares. */
_Atomic uint64_t *output_shares_take(const struct output_shares *shares, struct stats *stats,
                                     uint32_t bytes);

static inline void output_shares_release(_Atomic uint64_t *share) {
    if (share != NULL)
        atomic_store(share, 0);
}

/* In the parent: this process was killed. */
void output_shares_forget(const struct output_shares *shares, const struct stats *stats, pid_t pid);

/* Whether all processes together have `limit` bytes pending. */
bool output_shares_reach(const struct output_shares *shares, const struct stats *stats,
                         uint64_t limit);

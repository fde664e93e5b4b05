#include "top/monotonic.h"

#include "base/clock.h"

/* Start times in hundredths of a second, the finest that all sources have: 41 bits are 697
 * years. 22 bits of pid are the kernel's limit. */
static uint64_t identity_of(const struct process *process) {
    enum { START_BITS = 41, START_NS = NS_PER_S / 100 };
    return (uint64_t)process->pid << START_BITS | (uint64_t)(process->started_ns / START_NS);
}

void monotonic_hold(struct process *process, int64_t user_floor_ns, int64_t system_floor_ns) {
    int64_t total_ns = process->user_ns + process->system_ns;
    if (user_floor_ns + system_floor_ns >= total_ns) {
        process->user_ns = user_floor_ns;
        process->system_ns = system_floor_ns;
        return;
    }
    if (process->system_ns < system_floor_ns)
        process->system_ns = system_floor_ns;
    process->user_ns = total_ns - process->system_ns;
    if (process->user_ns < user_floor_ns) {
        process->user_ns = user_floor_ns;
        process->system_ns = total_ns - user_floor_ns;
    }
}

void monotonic_begin(struct monotonic *monotonic) {
    monotonic->where = 0;
    monotonic->counts[1 - monotonic->old] = 0;
}

void monotonic_end(struct monotonic *monotonic) {
    monotonic->old = 1 - monotonic->old;
}

void monotonic_pass(struct monotonic *monotonic, struct process *process) {
    const uint64_t identity = identity_of(process);
    const struct monotonic_entry *old = monotonic->entries[monotonic->old];
    const uint32_t old_count = monotonic->counts[monotonic->old], fresh = 1 - monotonic->old;
    while (monotonic->where < old_count && old[monotonic->where].identity < identity)
        monotonic->where++;
    if (monotonic->where < old_count && old[monotonic->where].identity == identity)
        monotonic_hold(process, old[monotonic->where].user_ns, old[monotonic->where].system_ns);
    if (monotonic->counts[fresh] < monotonic->limit)
        monotonic->entries[fresh][monotonic->counts[fresh]++] =
            (struct monotonic_entry){identity, process->user_ns, process->system_ns};
}

#include "top/told.h"

#include "base/clock.h"

/* Start times in hundredths of a second: the finest that every source has. 41 bits of them are 697
 * years, 22 bits of pid the kernel's limit. */
static uint64_t identity_of(const struct process *process) {
    enum { START_BITS = 41, START_NS = NS_PER_S / 100 };
    return (uint64_t)process->pid << START_BITS | (uint64_t)(process->started_ns / START_NS);
}

void told_hold(struct process *process, int64_t user_floor_ns, int64_t system_floor_ns) {
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

void told_begin(struct told *told) {
    told->where = 0;
    told->counts[1 - told->old] = 0;
}

void told_end(struct told *told) {
    told->old = 1 - told->old;
}

void told_pass(struct told *told, struct process *process) {
    const uint64_t identity = identity_of(process);
    const struct told_entry *old = told->entries[told->old];
    const uint32_t old_count = told->counts[told->old], fresh = 1 - told->old;
    while (told->where < old_count && old[told->where].identity < identity)
        told->where++;
    if (told->where < old_count && old[told->where].identity == identity)
        told_hold(process, old[told->where].user_ns, old[told->where].system_ns);
    if (told->counts[fresh] < told->limit)
        told->entries[fresh][told->counts[fresh]++] =
            (struct told_entry){identity, process->user_ns, process->system_ns};
}

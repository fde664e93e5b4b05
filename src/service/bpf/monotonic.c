#include "service/bpf/monotonic.h"

#include "base/clock.h"

#include <stdbool.h>

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
    monotonic->where = monotonic->seen = monotonic->added = monotonic->waits = 0;
    if (monotonic->is_moving) /* a process died while it moved them */
        monotonic->known = 0;
}

void monotonic_pass(struct monotonic *monotonic, struct process *process) {
    const uint64_t identity = identity_of(process);
    const uint32_t known = monotonic->known;
    uint32_t where = monotonic->where;
    struct monotonic_entry *entry = monotonic->entries;
    while (where < known && entry[where].identity < identity)
        where++;
    monotonic->where = where;
    if (where < known && entry[where].identity == identity) {
        entry += where;
        monotonic_hold(process, entry->user_ns, entry->system_ns);
        monotonic->seen++;
    } else if (known + monotonic->added + monotonic->waits == monotonic->limit) {
        return;
    } else if (where < known) {
        entry = &monotonic->waiting[monotonic->waits++];
    } else {
        entry += known + monotonic->added++;
    }
    *entry = (struct monotonic_entry){identity & INT64_MAX, monotonic->turn & 1, process->user_ns,
                                      process->system_ns};
}

/* Returns how many are left. */
static uint32_t drop_unseen(struct monotonic *monotonic, uint32_t count) {
    struct monotonic_entry *entries = monotonic->entries;
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (entries[i].turn != monotonic->turn)
            continue;
        if (left != i)
            entries[left] = entries[i];
        left++;
    }
    return left;
}

/* Returns how many there are then. */
static uint32_t insert_waiting(struct monotonic *monotonic, uint32_t count) {
    struct monotonic_entry *entries = monotonic->entries;
    const struct monotonic_entry *waiting = monotonic->waiting;
    uint32_t from = count, to = count + monotonic->waits;
    for (uint32_t left = monotonic->waits; left > 0;) {
        if (from > 0 && entries[from - 1].identity > waiting[left - 1].identity)
            entries[--to] = entries[--from];
        else
            entries[--to] = waiting[--left];
    }
    return count + monotonic->waits;
}

void monotonic_end(struct monotonic *monotonic) {
    uint32_t count = monotonic->known + monotonic->added;
    if (monotonic->seen < monotonic->known || monotonic->waits > 0) {
        monotonic->is_moving = true;
        count = insert_waiting(monotonic, drop_unseen(monotonic, count));
    }
    monotonic->known = count;
    monotonic->is_moving = false;
    monotonic->turn = 1 - monotonic->turn;
}

/* The last reported times of each process, so that no time runs backwards, however it was read.
 *
 * The kernel splits a process's run time into user and system time by what clock ticks happened
 * to see, so the split may move back and forth. As the kernel does for /proc, a reported time
 * never decreases. A process is known by (pid, start time) and forgotten when a scan does not
 * see it. */
#pragma once
#include "top/process.h"

struct monotonic_entry {
    uint64_t identity; /* pid and start time in one number, ordered by pid */
    int64_t user_ns, system_ns;
};

/* Two tables of `limit` entries by ascending pid: of the last complete scan, and of the current
 * one. */
struct monotonic {
    struct monotonic_entry *entries[2];
    uint32_t limit;
    uint32_t counts[2];
    uint32_t old;   /* index of the last scan's table */
    uint32_t where; /* the current scan's position in it */
};

/* Around a scan. Without monotonic_end its times are forgotten. */
void monotonic_begin(struct monotonic *monotonic);
void monotonic_end(struct monotonic *monotonic);

/* For each process of a scan, by ascending pid: raises its times to those reported before.
 * Beyond the limit processes pass unchanged. */
void monotonic_pass(struct monotonic *monotonic, struct process *process);

/* Raises user and system time to a floor as the kernel does: their sum stays the same unless it
 * is below the floor's. */
void monotonic_hold(struct process *process, int64_t user_floor_ns, int64_t system_floor_ns);

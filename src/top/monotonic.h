/* What was last told of each process, so that no time runs backwards, whichever way it was read.
 *
 * The kernel's user and system times are a run time that is split by what clock ticks happened to
 * find: the split may move a little to and fro. As the kernel does for /proc, what was told stays
 * told. A process is known by (pid, start time); one that a scan did not see is forgotten. */
#pragma once
#include "top/process.h"

struct monotonic_entry {
    uint64_t identity; /* pid and start time, in one number that orders by pid */
    int64_t user_ns, system_ns;
};

/* Two tables of `limit` entries each, by ascending pid: what the last whole scan told, and what the
 * one under way does. */
struct monotonic {
    struct monotonic_entry *entries[2];
    uint32_t limit;
    uint32_t counts[2];
    uint32_t old;   /* which table is the last scan's */
    uint32_t where; /* how far the scan under way is in it */
};

/* Around a scan. Without monotonic_end what it told is forgotten. */
void monotonic_begin(struct monotonic *monotonic);
void monotonic_end(struct monotonic *monotonic);

/* For each process of a scan, by ascending pid: raises its times to what was told before. Beyond
 * the limit a process is let through as it is. */
void monotonic_pass(struct monotonic *monotonic, struct process *process);

/* Raises user and system time to a floor as the kernel does: their sum stays what it is, unless it
 * is itself below the floor's. */
void monotonic_hold(struct process *process, int64_t user_floor_ns, int64_t system_floor_ns);

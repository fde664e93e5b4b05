/* The last reported times of each process, so that no time runs backwards whatever the source.
 *
 * The kernel splits a process's run time into user and system time in proportion to sampled clock
 * ticks, so the split may move back and forth. As the kernel does for /proc, this keeps each
 * reported time from decreasing. A process is identified by (pid, start time) and forgotten when a
 * scan does not see it.
 *
 * There is one table, changed in place: most scans find the processes of the one before. */
#pragma once
#include "service/top/process.h"

#include <stdatomic.h>

struct monotonic_entry {
    uint64_t identity : 63; /* pid and start time in one number, ordered by pid */
    uint64_t turn : 1;      /* of the last scan that saw it */
    int64_t user_ns, system_ns;
};

struct monotonic {
    struct monotonic_entry *entries; /* by ascending pid */
    struct monotonic_entry *waiting; /* new ones that belong between them, until the scan ends */
    uint32_t limit;                  /* there is room for so many in each */
    uint32_t known;                  /* entries that earlier scans left */
    uint32_t seen, added, waits;     /* in this scan: known, new after them, waiting */
    uint32_t where;                  /* its position among the known ones */
    unsigned turn;                   /* 0 or 1, in turns */
    atomic_bool is_moving;           /* if the process dies meanwhile, entries are unusable */
};

/* To call before and after a scan. Without monotonic_end its new processes are forgotten. */
void monotonic_begin(struct monotonic *monotonic);
void monotonic_end(struct monotonic *monotonic);

/* For each process of a scan, by ascending pid: raises its times to those reported before. Beyond
 * the limit processes are left unchanged. */
void monotonic_pass(struct monotonic *monotonic, struct process *process);

/* Raises user and system time to a floor as the kernel does: their sum stays the same unless it
 * is below the floor's. */
void monotonic_hold(struct process *process, int64_t user_floor_ns, int64_t system_floor_ns);

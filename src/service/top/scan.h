/* A complete reading of all processes: all about it except the processes themselves. */
#pragma once
#include "service/top/process.h"

struct scan {
    const char *source;         /* "procfs" */
    const char *reason;         /* why that source, in a few words */
    int64_t taken_at_ns;        /* Unix time when it began */
    int64_t taken_mono_ns;      /* the same moment, CLOCK_MONOTONIC: its age counts from here */
    int64_t boot_at_ns;         /* Unix time of boot; moves when the clock is set */
    int64_t user_ns, system_ns; /* all CPUs since boot, by the kernel's count; interrupts are system
                                   time, waiting and steal are neither */
    uint32_t seen;              /* visited processes */
    uint32_t lost; /* known to be missing: unreadable, or ended unseen since the last scan */
};

/* Called once for each process, by ascending pid. */
typedef void scan_visit(void *context, const struct process *process);

/* An ended process with its final times. started_ns is the same as in scans, so (pid,
 * started_ns) is the same process. */
typedef void ended_visit(void *context, const struct process *process);

/* Sets the times; nothing is seen yet. */
void scan_begin(struct scan *scan, const char *source);

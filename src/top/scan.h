/* One complete reading of all processes: what is said of it beside the processes themselves. */
#pragma once
#include "top/process.h"

struct scan {
    const char *source;    /* "procfs" */
    const char *reason;    /* why from there, in a few words */
    int64_t taken_at_ns;   /* Unix time when the reading began */
    int64_t taken_mono_ns; /* the same moment, CLOCK_MONOTONIC: its age is counted from here */
    int64_t boot_at_ns;    /* Unix time of the boot: moves when the clock is set */
    int64_t user_ns,
        system_ns; /* that all CPUs were busy since the boot, by the kernel's own count;
                      interrupts are system time, waiting and steal are neither */
    uint32_t seen; /* processes that were visited */
    uint32_t lost; /* known to have been missed: unreadable, or ended unseen since the last one */
};

/* Called once for each process, by ascending pid. */
typedef void scan_visit(void *context, const struct process *process);

/* Notes the time; nothing is seen yet. */
void scan_begin(struct scan *scan, const char *source);

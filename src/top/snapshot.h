/* A snapshot: one complete reading of all processes, of which the busiest are kept.
 *
 * A process is a thread group; its CPU time is that of its live and its dead threads. Its identity
 * is (pid, start time). The order is: most user + system time first, ties by lower pid. */
#pragma once
#include "base/limits.h"

#include <stdint.h>

struct process {
    int32_t pid;
    uint8_t name_length;
    char name[NAME_LIMIT]; /* raw bytes as the process set them; no zero byte ends them */
    int64_t user_ns, system_ns;
    int64_t started_at_ns; /* Unix time */
};

struct snapshot {
    const char *source;    /* "procfs" */
    int64_t taken_at_ns;   /* Unix time when the reading began */
    int64_t taken_mono_ns; /* the same moment, CLOCK_MONOTONIC: its age is counted from here */
    uint32_t tasks_seen;   /* processes read, kept or not */
    uint32_t count;        /* rows that follow, at most TOP_LIMIT */
    struct process top[TOP_LIMIT];
};

/* Empties it and notes the time. */
void snapshot_begin(struct snapshot *snapshot, const char *source);

/* Takes one process into account; keeps it if it belongs among the busiest. O(log TOP_LIMIT), and
 * one comparison for a process that is not kept. */
void snapshot_offer(struct snapshot *snapshot, const struct process *process);

/* Puts the rows in order; nothing may be offered after it. */
void snapshot_end(struct snapshot *snapshot);

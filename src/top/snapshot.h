/* A snapshot: one complete reading of all processes, of which the busiest are kept.
 *
 * The order is: most user + system time first, ties by lower pid. */
#pragma once
#include "top/scan.h"

struct snapshot {
    struct scan scan;
    uint32_t count; /* rows that follow, at most TOP_LIMIT */
    struct process top[TOP_LIMIT];
};

/* Empties it. */
void snapshot_begin(struct snapshot *snapshot);

/* Takes one process into account; keeps it if it belongs among the busiest. O(log TOP_LIMIT), and
 * one comparison for a process that is not kept. */
void snapshot_offer(struct snapshot *snapshot, const struct process *process);

/* Puts the rows in order; nothing may be offered after it. */
void snapshot_end(struct snapshot *snapshot);

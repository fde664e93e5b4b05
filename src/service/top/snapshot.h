/* A snapshot: a complete reading of all processes that keeps the busiest, most user + system
 * time first; ties: lower pid first. */
#pragma once
#include "service/top/scan.h"

struct snapshot {
    struct scan scan;
    uint32_t count; /* rows that follow, at most TOP_LIMIT */
    struct process top[TOP_LIMIT];
};

/* Empties it. */
void snapshot_begin(struct snapshot *snapshot);

/* Keeps a process if it belongs among the busiest. O(log TOP_LIMIT); one comparison if it does
 * not. */
void snapshot_offer(struct snapshot *snapshot, const struct process *process);

/* Sorts the rows; nothing may be offered afterwards. */
void snapshot_end(struct snapshot *snapshot);

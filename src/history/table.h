/* The processes of the newest reading, each in a slot that it keeps for life, and an order of them
 * by pid and start, by which a scan, which visits them in that order, is merged in.
 *
 * A process that a scan did not see any more keeps its slot for a while (TABLE_LINGER_NS): a scan
 * that lost it may see it again, and its last times may be told after its end: by the recorder's
 * source, so that it is longer than the recorder's pause. */
#pragma once
#include "history/region.h"
#include "top/process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PIDS_LEAST = 1 << 12 }; /* that a table has room for, whatever memory there is */

#define TABLE_LINGER_NS (INT64_C(1500) * 1000 * 1000)

/* A process, as the newest reading that saw it knew it. */
struct member {
    int64_t started_ns, user_ns, system_ns;
    /* Up to where its times were noted as changes: of each second, of each ten. */
    int64_t noted_user_ns, noted_system_ns;
    int64_t noted_long_user_ns, noted_long_system_ns;
    int32_t pid;
    uint32_t name, cgroup; /* labels; cgroup 0: not looked for yet */
    uint32_t looked_s;     /* when it was, in seconds since the boot */
    /* Number of the kept reading that was the next when it was first seen. */
    uint32_t first : 31;
    uint32_t has_ended : 1; /* it was told, with its last times */
    uint32_t gone_ms;       /* CLOCK_MONOTONIC, cut to its low bits; 0: it is there */
};

struct table_place {
    int32_t pid;
    uint32_t slot;
};

struct table {
    uint32_t capacity;
    uint32_t slots, free; /* that were ever in use; the first free one, by `name`, from 1 */
    uint32_t count;       /* in the order */
    struct member *members;
    struct table_place *orders; /* two: the newest reading's, and that of the one under way */
    uint32_t newest;            /* which of them, 0 or 1 */
    uint32_t at, next_count;    /* what of the newest was merged into the next */
};

/* For all processes that there can be at once. */
uint32_t table_capacity(void);

/* What it takes of a region, and the taking. */
size_t table_bytes(uint32_t capacity);
void table_open(struct table *table, uint32_t capacity, struct region *region);

/* Forgets all. */
void table_reset(struct table *table);

/* By ascending pid. */
static inline struct table_place *table_order(const struct table *table) {
    return table->orders + (size_t)table->newest * table->capacity;
}

static inline struct member *table_member(const struct table *table, uint32_t place) {
    return &table->members[table_order(table)[place].slot];
}

/* A process by its identity, wherever it is; NULL: it is not known. */
struct member *table_find(const struct table *table, int32_t pid, int64_t started_ns);

/* A reading, of processes by ascending pid: */
void table_begin(struct table *table);

/* Where a visited process is; *is_new: it was unknown, and all but its identity is 0. NULL: it was
 * visited before, or there is no room. dropped: called for each member whose slot becomes free. */
typedef void table_dropped(void *context, struct member *member);
struct member *table_visit(struct table *table, const struct process *process, bool *is_new,
                           int64_t now_ns, table_dropped *dropped, void *context);

/* is_whole: the scan saw all there are, and who was not visited is gone. */
void table_end(struct table *table, bool is_whole, int64_t now_ns, table_dropped *dropped,
               void *context);

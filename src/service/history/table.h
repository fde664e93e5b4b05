/* The processes of the newest reading, each in a slot that it keeps for life, and their order by
 * pid and start time. A scan visits processes in that order and is merged into it.
 *
 * A process that a scan no longer saw keeps its slot for TABLE_LINGER_NS: it may be seen again,
 * and the recorder's source may report its final times later. So TABLE_LINGER_NS is longer than
 * the recorder's pause. */
#pragma once
#include "service/history/region.h"
#include "service/top/process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PIDS_LEAST = 1 << 12 }; /* minimum capacity, however little memory there is */

#define TABLE_LINGER_NS (INT64_C(1500) * 1000 * 1000)

/* A process as of the last reading that saw it. */
struct member {
    int64_t started_ns, user_ns, system_ns;
    /* The part of its times that was added as changes, in microseconds: low bits. */
    uint32_t noted_user_us, noted_system_us;
    int32_t pid;
    uint32_t name; /* a label */
    /* Number of the next kept reading when it was first seen. */
    uint32_t first : 31;
    uint32_t has_ended : 1; /* its final times were reported */
    uint32_t gone_ms;       /* low bits of CLOCK_MONOTONIC; 0: it exists */
};

struct table {
    uint32_t capacity;
    uint32_t slots, free; /* used so far; the first free one, from 1, linked by `name` */
    uint32_t count;       /* in the order */
    struct member *members;
    uint32_t *order;   /* slots, by ascending pid and start */
    uint32_t *waiting; /* slots of new processes that belong between them, until the reading ends */
    /* Of the current reading: */
    uint32_t at, left;     /* how many of the order were checked, and stay at its front */
    uint32_t added, waits; /* new processes after the order, and waiting */
    uint32_t last;         /* slot that was visited last, from 1; 0: none */
};

/* For all processes that can exist at once. */
uint32_t table_capacity(void);

/* The bytes of a region that a table needs; takes them. */
size_t table_bytes(uint32_t capacity);
void table_open(struct table *table, uint32_t capacity, struct region *region);

/* Forgets all processes. */
void table_reset(struct table *table);

static inline uint32_t table_slot(const struct table *table, const struct member *member) {
    return (uint32_t)(member - table->members);
}

static inline struct member *table_member(const struct table *table, uint32_t place) {
    return &table->members[table->order[place]];
}

/* The place of the first process at or after this identity; `count`: there is none. */
uint32_t table_from(const struct table *table, int32_t pid, int64_t started_ns);

/* A process by its identity; NULL: unknown. */
struct member *table_find(const struct table *table, int32_t pid, int64_t started_ns);

/* Begins a reading, of processes by ascending pid. */
void table_begin(struct table *table);

/* The member of a visited process; *is_new: it was unknown, and everything but its identity is 0.
 * NULL: already visited, or no room. `dropped` is called for each member whose slot is freed. */
typedef void table_dropped(void *context, struct member *member);
struct member *table_visit(struct table *table, const struct process *process, bool *is_new,
                           int64_t now_ns, table_dropped *dropped, void *context);

/* is_whole: the scan was complete; processes not visited are gone. */
void table_end(struct table *table, bool is_whole, int64_t now_ns, table_dropped *dropped,
               void *context);

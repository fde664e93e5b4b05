/* The CPU time that each process used between one kept reading and the next.
 *
 * Most processes sleep: only those that used CPU are noted, in 12 bytes each, in the list of the
 * reading that ends the interval. Blocks of dropped lists are reused, the most
 * recent first, so that only as much memory is touched as is needed. */
#pragma once
#include "service/history/region.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    CHANGES_BLOCK = 84,     /* changes in a block: a quarter of a page */
    CHANGES_BLOCKS = 65536, /* 64 MiB reserved: 5.5 million changes */
    CHANGES_KEPT_LIMIT = 16,
};

struct change {
    uint32_t slot; /* of the process, in the table */
    uint32_t user_us, system_us;
};

struct changes_block {
    uint32_t next, count;
    struct change changes[CHANGES_BLOCK];
};

struct changes_pool {
    struct changes_block *blocks;
    uint32_t count, free; /* blocks used so far; the first free one, from 1 */
};

/* A kept reading, and the changes since the one before. */
struct kept_reading {
    int64_t taken_mono_ns;
    int64_t user_ns, system_ns; /* of the whole machine */
    uint32_t number;            /* counts kept readings of all lists */
    uint32_t blocks;            /* the first one */
};

/* Kept readings, oldest first, and the changes since the newest. */
struct changes {
    struct changes_pool *pool;
    uint32_t limit, count; /* of readings: the most, and now */
    uint32_t blocks;       /* since the newest */
    struct kept_reading kept[CHANGES_KEPT_LIMIT];
};

/* The bytes of a region that a pool needs; takes them. */
size_t changes_pool_bytes(void);
void changes_pool_open(struct changes_pool *pool, struct region *region);

/* Empties it, together with its pool. */
void changes_begin(struct changes *changes, struct changes_pool *pool, uint32_t limit);

/* Adds what a process used since its last change; false: no room. */
bool changes_add(struct changes *changes, uint32_t slot, int64_t user_us, int64_t system_us);

/* Keeps a reading, with the changes added before it. Drops the oldest if there are too many. */
void changes_keep(struct changes *changes, const struct kept_reading *reading);

/* In place of an index: from the first change on. */
#define CHANGES_SINCE_EVER UINT32_MAX

/* Index of the kept reading of this number; CHANGES_SINCE_EVER: it is not kept. */
uint32_t changes_find(const struct changes *changes, uint32_t number);

/* Calls visit for each change after the kept reading at index `since`, with the number of the
 * change's reading; UINT32_MAX: since the newest. */
typedef void change_visit(void *context, const struct change *change, uint32_t number);
void changes_each(const struct changes *changes, uint32_t since, change_visit *visit,
                  void *context);

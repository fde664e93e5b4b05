/* What each process used between one kept reading and the next.
 *
 * Most processes sleep, so only those that used something are noted: 12 bytes each in a reading's
 * list. A list begins with the kept reading before and ends with its own. Blocks of dropped lists
 * are used again, the last one first, so memory follows what is noted. */
#pragma once
#include "history/region.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    CHANGES_BLOCK = 340,    /* changes of a block: a page */
    CHANGES_BLOCKS = 16384, /* 64 MiB are reserved: 5.5 million changes */
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
    uint32_t count, free; /* blocks that were ever in use; the first free one, from 1 */
};

/* A reading that is kept, and what was used since the one before. */
struct kept_reading {
    int64_t taken_mono_ns;
    int64_t user_ns, system_ns; /* that the machine was busy */
    uint32_t number;            /* of the newest kept reading of all kinds, as it was made */
    uint32_t blocks;            /* the first one */
};

/* Kept readings, the oldest first, and the changes since the newest. */
struct changes {
    struct changes_pool *pool;
    uint32_t limit, count; /* readings that may be kept, and are */
    uint32_t blocks;       /* since the newest */
    struct kept_reading kept[CHANGES_KEPT_LIMIT];
};

/* What it takes of a region, and the taking. */
size_t changes_pool_bytes(void);
void changes_pool_open(struct changes_pool *pool, struct region *region);

/* Empty. What it held before belongs to a pool that was emptied too. */
void changes_begin(struct changes *changes, struct changes_pool *pool, uint32_t limit);

/* Notes what a process used since it was last noted; false: there is no room for it. */
bool changes_add(struct changes *changes, uint32_t slot, int64_t user_us, int64_t system_us);

/* Keeps a reading: what was added belongs to it. The oldest is dropped if there are too many. */
void changes_keep(struct changes *changes, const struct kept_reading *reading);

/* Calls visit for each change after the kept reading `since`, with the number of the one it
 * belongs to, UINT32_MAX for the changes since the newest. */
typedef void change_visit(void *context, const struct change *change, uint32_t number);
void changes_each(const struct changes *changes, uint32_t since, change_visit *visit,
                  void *context);

#include "service/history/changes.h"

#include <string.h>

static struct changes_block *block_at(const struct changes_pool *pool, uint32_t number) {
    return &pool->blocks[number - 1];
}

static const size_t blocks_bytes = CHANGES_BLOCKS * sizeof(struct changes_block);

size_t changes_pool_bytes(void) {
    return region_share(blocks_bytes);
}

void changes_pool_open(struct changes_pool *pool, struct region *region) {
    *pool = (struct changes_pool){.blocks = region_take(region, blocks_bytes)};
}

void changes_begin(struct changes *changes, struct changes_pool *pool, uint32_t limit) {
    *changes = (struct changes){.pool = pool, .limit = limit};
}

static uint32_t take_block(struct changes_pool *pool) {
    uint32_t number = pool->free;
    if (number != 0)
        pool->free = block_at(pool, number)->next;
    else if (pool->count < CHANGES_BLOCKS)
        number = ++pool->count;
    return number;
}

static void give_back(struct changes_pool *pool, uint32_t number) {
    while (number != 0) {
        struct changes_block *block = block_at(pool, number);
        uint32_t next = block->next;
        block->next = pool->free;
        pool->free = number;
        number = next;
    }
}

/* The first block of the list, with room for a change; NULL: out of blocks. */
static struct changes_block *with_room(struct changes *changes) {
    uint32_t first = changes->blocks;
    if (first != 0 && block_at(changes->pool, first)->count < CHANGES_BLOCK)
        return block_at(changes->pool, first);
    uint32_t fresh = take_block(changes->pool);
    if (fresh == 0)
        return NULL;
    struct changes_block *block = block_at(changes->pool, fresh);
    block->next = first;
    block->count = 0;
    changes->blocks = fresh;
    return block;
}

static uint32_t part(int64_t us) {
    return us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

bool changes_add(struct changes *changes, uint32_t slot, int64_t user_us, int64_t system_us) {
    struct changes_block *block = with_room(changes);
    if (block == NULL)
        return false;
    /* Hours of CPU time take several changes; the rest is lost if there is no room. */
    while ((user_us > 0 || system_us > 0) && (block = with_room(changes)) != NULL) {
        struct change change = {slot, part(user_us), part(system_us)};
        block->changes[block->count++] = change;
        user_us -= change.user_us;
        system_us -= change.system_us;
    }
    return true;
}

void changes_keep(struct changes *changes, const struct kept_reading *reading) {
    if (changes->count == changes->limit) {
        give_back(changes->pool, changes->kept[0].blocks);
        memmove(changes->kept, changes->kept + 1, --changes->count * sizeof changes->kept[0]);
    }
    struct kept_reading *kept = &changes->kept[changes->count++];
    *kept = *reading;
    kept->blocks = changes->blocks;
    changes->blocks = 0;
}

static void each(const struct changes *changes, uint32_t number, uint32_t blocks,
                 change_visit *visit, void *context) {
    while (blocks != 0) {
        const struct changes_block *block = block_at(changes->pool, blocks);
        for (uint32_t i = 0; i < block->count; i++)
            visit(context, &block->changes[i], number);
        blocks = block->next;
    }
}

uint32_t changes_find(const struct changes *changes, uint32_t number) {
    for (uint32_t i = 0; i < changes->count; i++)
        if (changes->kept[i].number == number)
            return i;
    return CHANGES_SINCE_EVER;
}

void changes_each(const struct changes *changes, uint32_t since, change_visit *visit,
                  void *context) {
    for (uint32_t i = since + 1; i < changes->count; i++)
        each(changes, changes->kept[i].number, changes->kept[i].blocks, visit, context);
    each(changes, UINT32_MAX, changes->blocks, visit, context);
}

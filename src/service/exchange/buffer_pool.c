#include "service/exchange/buffer_pool.h"

#include "base/hot.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* At the start of each free buffer. */
struct free_buffer {
    struct free_buffer *next;
    uint32_t capacity;
};

static struct buffer taken(struct buffer_pool *pool, char *bytes, uint32_t capacity) {
    if (++pool->in_use > pool->most_in_use)
        pool->most_in_use = pool->in_use;
    return (struct buffer){bytes, capacity};
}

HOT struct buffer buffer_pool_get(struct buffer_pool *pool) {
    struct free_buffer *kept = pool->free;
    if (kept != NULL) {
        pool->free = kept->next;
        pool->free_count--;
        return taken(pool, (char *)kept, kept->capacity);
    }
    if (pool->preallocated != NULL && pool->preallocated_used < BUFFERS_PREALLOCATED)
        return taken(pool, pool->preallocated->bytes[pool->preallocated_used++],
                     BUFFER_FIRST_BYTES);
    char *bytes = malloc(BUFFER_FIRST_BYTES);
    return bytes != NULL ? taken(pool, bytes, BUFFER_FIRST_BYTES) : (struct buffer){NULL, 0};
}

bool buffer_pool_is_preallocated(const struct buffer_pool *pool, const char *bytes) {
    uintptr_t at = (uintptr_t)bytes, start = (uintptr_t)pool->preallocated;
    return start != 0 && at >= start && at < start + sizeof *pool->preallocated;
}

char *buffer_pool_grow(const struct buffer_pool *pool, char *bytes, size_t length,
                       size_t capacity) {
    if (!buffer_pool_is_preallocated(pool, bytes))
        return realloc(bytes, capacity);
    char *larger = malloc(capacity);
    if (larger != NULL)
        memcpy(larger, bytes, length);
    return larger;
}

static void keep(struct buffer_pool *pool, struct buffer buffer) {
    struct free_buffer *kept = (struct free_buffer *)(void *)buffer.bytes;
    *kept = (struct free_buffer){pool->free, buffer.capacity};
    pool->free = kept;
    pool->free_count++;
}

HOT void buffer_pool_put(struct buffer_pool *pool, struct buffer buffer) {
    if (buffer.bytes == NULL)
        return;
    if (pool->in_use > 0) /* a buffer that grew after a failed get was never counted */
        pool->in_use--;
    if (buffer_pool_is_preallocated(pool, buffer.bytes) ||
        (pool->free_count < BUFFERS_KEPT && buffer.capacity <= BUFFER_KEPT_BYTES))
        keep(pool, buffer);
    else
        free(buffer.bytes);
    /* free() returns memory to the system only from the end of the heap, which is usually still in
     * use. */
    if (pool->most_in_use >= BUFFERS_BURST && pool->in_use <= BUFFERS_KEPT) {
        malloc_trim(0);
        pool->most_in_use = 0;
    }
}

HOT void buffer_pool_close(struct buffer_pool *pool) {
    for (struct free_buffer *next, *kept = pool->free; kept != NULL; kept = next) {
        next = kept->next;
        if (!buffer_pool_is_preallocated(pool, (char *)kept))
            free(kept);
    }
    pool->free = NULL;
    pool->preallocated_used = 0;
    pool->free_count = 0;
}

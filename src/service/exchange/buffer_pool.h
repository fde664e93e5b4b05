/* A pool of buffers for the exchanges of one thread.
 *
 * An event loop with ten thousand connections handles one at a time, so the same two buffers are
 * reused and stay in the cache. Slow clients need further ones, which are allocated; at most
 * BUFFERS_KEPT of those are kept, so that memory returns to the system after a burst. A struct of
 * zeroes is an empty pool.
 *
 * A process or thread that serves a single client gives the pool two buffers on its stack and
 * allocates nothing. */
#pragma once
#include "service/exchange/output_budget.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BUFFER_FIRST_BYTES = 1024, /* of a new buffer: most heads and replies fit */
    BUFFER_KEPT_BYTES = 8192,  /* a larger buffer is freed */
    BUFFERS_KEPT = 64,
    BUFFERS_PREALLOCATED = 2, /* enough for one exchange: input and output */
    BUFFERS_BURST = 1024,     /* so many in use at once leave a heap worth trimming */
};

struct buffer {
    char *bytes;
    uint32_t capacity;
};

/* Needs no initialization. */
struct preallocated_buffers {
    alignas(max_align_t) char bytes[BUFFERS_PREALLOCATED][BUFFER_FIRST_BYTES];
};

struct buffer_pool {
    struct free_buffer *free;
    struct preallocated_buffers *preallocated; /* NULL: none; must outlive the pool */
    struct output_budget *budget;              /* shared with other threads' pools; NULL: none */
    unsigned preallocated_used;                /* how many have left the pool at least once */
    unsigned free_count;
    unsigned in_use;
    unsigned most_in_use; /* since the heap was last trimmed */
};

/* Returns a buffer of at least BUFFER_FIRST_BYTES; NULL bytes if memory ran out. Unless it is
 * preallocated, the caller may realloc it. */
struct buffer buffer_pool_get(struct buffer_pool *pool);
bool buffer_pool_is_preallocated(const struct buffer_pool *pool, const char *bytes);

/* Enlarges a buffer and keeps its first `length` bytes. Returns NULL, and changes nothing, if
 * memory ran out. */
char *buffer_pool_grow(const struct buffer_pool *pool, char *bytes, size_t length, size_t capacity);

/* Returns a buffer, with its present capacity, to the pool. NULL bytes are ignored. */
void buffer_pool_put(struct buffer_pool *pool, struct buffer buffer);

/* Frees all free buffers; the pool is empty and usable. */
void buffer_pool_close(struct buffer_pool *pool);

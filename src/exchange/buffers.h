/* A store of buffers for the exchanges of one thread.
 *
 * A loop that serves ten thousand connections handles one at a time: usually the same two buffers
 * go round and stay in the cache. Slow clients need more, which are allocated; at most BUFFERS_KEPT
 * of those are kept, so that memory returns to the system after a burst. A struct of zeroes is an
 * empty store.
 *
 * A process or thread that serves a single client lends the store two buffers from its stack and
 * allocates nothing. */
#pragma once
#include "exchange/output_budget.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BUFFER_FIRST_BYTES = 1024, /* most heads and replies fit */
    BUFFER_KEPT_BYTES = 8192,  /* a larger one is freed */
    BUFFERS_KEPT = 64,
    BUFFERS_LENT = 2,     /* what one exchange uses: requests, replies */
    BUFFERS_BURST = 1024, /* this many in use at once leave a heap worth trimming */
};

struct buffer {
    char *bytes;
    uint32_t capacity;
};

/* Needs no initialization. */
struct lent_buffers {
    alignas(max_align_t) char bytes[BUFFERS_LENT][BUFFER_FIRST_BYTES];
};

struct buffers {
    struct kept_buffer *kept;
    struct lent_buffers *lent;    /* NULL: none; must outlive the store */
    struct output_budget *budget; /* shared with the stores of other threads; NULL: none */
    unsigned lent_count;          /* ever taken */
    unsigned count;
    unsigned in_use;
    unsigned most_in_use; /* since the heap was trimmed */
};

/* BUFFER_FIRST_BYTES or more; NULL bytes if memory ran out. Unless lent, it is malloc's: the
 * caller may realloc it. */
struct buffer buffers_take(struct buffers *buffers);
bool buffers_is_lent(const struct buffers *buffers, const char *bytes);

/* Enlarges it, keeping its first `length` bytes; NULL without effect if memory ran out. A lent
 * one is not used again. */
char *buffers_grow(const struct buffers *buffers, char *bytes, size_t length, size_t capacity);

/* Takes a buffer back, at its present size, or frees it. NULL bytes are ignored. */
void buffers_give(struct buffers *buffers, struct buffer buffer);

/* Frees what is kept; the store is empty and usable. */
void buffers_close(struct buffers *buffers);

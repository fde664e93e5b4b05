/* Buffers for the exchanges of one thread, which use them one after the other.
 *
 * A loop that serves ten thousand connections reads, answers and writes one at a time: mostly the
 * same two buffers go round, and stay in the cache. More are allocated when there is need (clients
 * that are slow to send or to take), and of those that come back no more than BUFFERS_KEPT stay:
 * after a burst the memory is the system's again. A struct of zeroes is a valid empty store.
 *
 * Who serves one client on a stack of its own lends the store the first few from there: a process
 * or a thread that lives for one request then allocates nothing. */
#pragma once
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BUFFER_FIRST_BYTES = 1024, /* a head or a reply mostly fits in it */
    BUFFER_KEPT_BYTES = 8192,  /* one that has grown beyond is not kept */
    BUFFERS_KEPT = 64,
    BUFFERS_LENT = 2,     /* what an exchange uses, one for requests and one for replies */
    BUFFERS_BURST = 1024, /* so many in use at once leave a heap that is worth tidying up */
};

struct buffer {
    char *bytes;
    uint32_t capacity;
};

/* Needs not be initialized. */
struct lent_buffers {
    alignas(max_align_t) char bytes[BUFFERS_LENT][BUFFER_FIRST_BYTES];
};

struct buffers {
    struct kept_buffer *kept;
    struct lent_buffers *lent; /* NULL: none; they must outlive the store */
    unsigned lent_count;       /* that were ever taken */
    unsigned count;
    unsigned in_use;
    unsigned most_in_use; /* since the heap was tidied up last */
};

/* BUFFER_FIRST_BYTES or more; no bytes if no memory is left. It is malloc's, which the caller may
 * realloc, unless it was lent. */
struct buffer buffers_take(struct buffers *buffers);
bool buffers_is_lent(const struct buffers *buffers, const char *bytes);

/* Makes it this large, with its first `length` bytes; NULL, and nothing happened, if no memory is
 * left. One that was lent is then not used again. */
char *buffers_grow(const struct buffers *buffers, char *bytes, size_t length, size_t capacity);

/* Takes a buffer back, as large as it is now, or frees it. One without bytes is nothing. */
void buffers_give(struct buffers *buffers, struct buffer buffer);

/* Frees what is kept; the store is empty and usable again. */
void buffers_close(struct buffers *buffers);

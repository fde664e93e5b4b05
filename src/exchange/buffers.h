/* Buffers for the exchanges of one thread, which use them one after the other.
 *
 * A loop that serves ten thousand connections reads, answers and writes one at a time: mostly the
 * same two buffers go round, and stay in the cache. More are allocated when there is need (clients
 * that are slow to send or to take), and of those that come back no more than BUFFERS_KEPT stay:
 * after a burst the memory is the system's again. A struct of zeroes is a valid empty store. */
#pragma once
#include <stdint.h>

enum {
    BUFFER_FIRST_BYTES = 1024, /* a head or a reply mostly fits in it */
    BUFFER_KEPT_BYTES = 8192,  /* one that has grown beyond is not kept */
    BUFFERS_KEPT = 64,
    BUFFERS_BURST = 1024, /* so many in use at once leave a heap that is worth tidying up */
};

struct buffer {
    char *bytes;
    uint32_t capacity;
};

struct buffers {
    struct kept_buffer *kept;
    unsigned count;
    unsigned in_use;
    unsigned most_in_use; /* since the heap was tidied up last */
};

/* BUFFER_FIRST_BYTES or more; no bytes if no memory is left. It is malloc's: the caller may realloc
 * it.
 */
struct buffer buffers_take(struct buffers *buffers);

/* Takes a buffer back, as large as it is now, or frees it. One without bytes is nothing. */
void buffers_give(struct buffers *buffers, struct buffer buffer);

/* Frees what is kept; the store is empty and usable again. */
void buffers_close(struct buffers *buffers);

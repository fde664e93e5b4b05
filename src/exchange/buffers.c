#include "exchange/buffers.h"

#include "base/hot.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* An unused buffer begins with this. */
struct kept_buffer {
    struct kept_buffer *next;
    uint32_t capacity;
};

static struct buffer taken(struct buffers *buffers, char *bytes, uint32_t capacity) {
    if (++buffers->in_use > buffers->most_in_use)
        buffers->most_in_use = buffers->in_use;
    return (struct buffer){bytes, capacity};
}

HOT struct buffer buffers_take(struct buffers *buffers) {
    struct kept_buffer *kept = buffers->kept;
    if (kept != NULL) {
        buffers->kept = kept->next;
        buffers->count--;
        return taken(buffers, (char *)kept, kept->capacity);
    }
    if (buffers->lent != NULL && buffers->lent_count < BUFFERS_LENT)
        return taken(buffers, buffers->lent->bytes[buffers->lent_count++], BUFFER_FIRST_BYTES);
    char *bytes = malloc(BUFFER_FIRST_BYTES);
    return bytes != NULL ? taken(buffers, bytes, BUFFER_FIRST_BYTES) : (struct buffer){NULL, 0};
}

bool buffers_is_lent(const struct buffers *buffers, const char *bytes) {
    uintptr_t at = (uintptr_t)bytes, lent = (uintptr_t)buffers->lent;
    return lent != 0 && at >= lent && at < lent + sizeof *buffers->lent;
}

char *buffers_grow(const struct buffers *buffers, char *bytes, size_t length, size_t capacity) {
    if (!buffers_is_lent(buffers, bytes))
        return realloc(bytes, capacity);
    char *larger = malloc(capacity);
    if (larger != NULL)
        memcpy(larger, bytes, length);
    return larger;
}

static void keep(struct buffers *buffers, struct buffer buffer) {
    struct kept_buffer *kept = (struct kept_buffer *)(void *)buffer.bytes;
    *kept = (struct kept_buffer){buffers->kept, buffer.capacity};
    buffers->kept = kept;
    buffers->count++;
}

HOT void buffers_give(struct buffers *buffers, struct buffer buffer) {
    if (buffer.bytes == NULL)
        return;
    if (buffers->in_use > 0) /* one that was refused memory at first was never counted */
        buffers->in_use--;
    if (buffers_is_lent(buffers, buffer.bytes) ||
        (buffers->count < BUFFERS_KEPT && buffer.capacity <= BUFFER_KEPT_BYTES))
        keep(buffers, buffer);
    else
        free(buffer.bytes);
    /* free() returns memory to the system only from the end of the heap, which is usually in
     * use. */
    if (buffers->most_in_use >= BUFFERS_BURST && buffers->in_use <= BUFFERS_KEPT) {
        malloc_trim(0);
        buffers->most_in_use = 0;
    }
}

HOT void buffers_close(struct buffers *buffers) {
    for (struct kept_buffer *next, *kept = buffers->kept; kept != NULL; kept = next) {
        next = kept->next;
        if (!buffers_is_lent(buffers, (char *)kept))
            free(kept);
    }
    buffers->kept = NULL;
    buffers->lent_count = 0;
    buffers->count = 0;
}

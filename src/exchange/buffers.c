#include "exchange/buffers.h"

#include <stddef.h>
#include <stdlib.h>

/* A buffer that nobody uses holds this itself. */
struct kept_buffer {
    struct kept_buffer *next;
    uint32_t capacity;
};

struct buffer buffers_take(struct buffers *buffers) {
    struct kept_buffer *kept = buffers->kept;
    if (kept != NULL) {
        buffers->kept = kept->next;
        buffers->count--;
        return (struct buffer){(char *)kept, kept->capacity};
    }
    char *bytes = malloc(BUFFER_FIRST_BYTES);
    return (struct buffer){bytes, bytes != NULL ? BUFFER_FIRST_BYTES : 0};
}

void buffers_give(struct buffers *buffers, struct buffer buffer) {
    if (buffers->count >= BUFFERS_KEPT || buffer.capacity > BUFFER_KEPT_BYTES) {
        free(buffer.bytes);
    } else if (buffer.bytes != NULL) {
        struct kept_buffer *kept = (struct kept_buffer *)(void *)buffer.bytes;
        *kept = (struct kept_buffer){buffers->kept, buffer.capacity};
        buffers->kept = kept;
        buffers->count++;
    }
}

void buffers_close(struct buffers *buffers) {
    while (buffers->kept != NULL)
        free(buffers_take(buffers).bytes);
}

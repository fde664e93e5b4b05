/* Finds where the body of an HTTP reply ends (RFC 9112, section 6.3), for replies whose content is
 * not in rows. Sans-I/O; the result does not depend on how the bytes are split. */
#pragma once
#include "base/text.h"
#include "client/reply/events.h"
#include "client/reply/expectation.h"

#include <stddef.h>
#include <stdint.h>

struct body {
    enum {
        BODY_LENGTH,     /* `left` bytes */
        BODY_TO_END,     /* everything until the connection ends */
        BODY_CHUNK_SIZE, /* in the line before a chunk */
        BODY_CHUNK,      /* `left` bytes of a chunk */
        BODY_CHUNK_END,  /* in the empty line after a chunk */
        BODY_TRAILER,    /* in the lines after the last chunk, up to an empty one */
        BODY_DONE,
    } state;
    uint64_t left;              /* bytes of the body or chunk */
    uint64_t taken;             /* bytes of the content so far */
    struct body_digest *digest; /* of the content; NULL: not wanted */
    struct events *events;      /* the same */
    uint32_t line_length;       /* bytes of the line so far */
    uint32_t digits;            /* of the chunk's size */
    bool in_extension;          /* after the chunk's size */
    bool after_cr;
};

/* Begin a body of `length` bytes; one in chunks; one that ends with the connection. */
void body_of_length(struct body *body, uint64_t length);
void body_in_chunks(struct body *body);
void body_to_end(struct body *body);

/* Takes bytes and appends the content to `content` unless that is NULL. Returns how many bytes it
 * took: all, unless the body is complete (BODY_DONE). -1: *problem says what is wrong. */
ptrdiff_t body_feed(struct body *body, const char *bytes, size_t length, struct text *content,
                    const char **problem);

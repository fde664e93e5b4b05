#include "client/reply/body.h"

enum { LINE_LIMIT_BYTES = 1024, SIZE_DIGITS = 12 /* 256 TB */ };

void body_of_length(struct body *body, uint64_t length) {
    *body = (struct body){.state = length > 0 ? BODY_LENGTH : BODY_DONE, .left = length};
}

void body_in_chunks(struct body *body) {
    *body = (struct body){.state = BODY_CHUNK_SIZE};
}

void body_to_end(struct body *body) {
    *body = (struct body){.state = BODY_TO_END};
}

/* 0 to 15; -1: not a hexadecimal digit. */
static int hex_value(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Ends a line between chunks. Returns NULL, or what is wrong. */
static const char *end_line(struct body *body) {
    uint32_t length = body->line_length;
    body->line_length = 0;
    body->in_extension = false;
    if (body->state == BODY_TRAILER) {
        body->state = length == 0 ? BODY_DONE : BODY_TRAILER;
        return NULL;
    }
    if (body->state == BODY_CHUNK_END) {
        body->state = BODY_CHUNK_SIZE;
        return NULL;
    }
    if (body->digits == 0)
        return "a chunk has no size";
    body->digits = 0;
    body->state = body->left > 0 ? BODY_CHUNK : BODY_TRAILER;
    return NULL;
}

/* Takes a byte of a line between chunks. Returns NULL, or what is wrong. */
static const char *take_line_byte(struct body *body, char c) {
    if (body->after_cr || c == '\n') {
        if (!body->after_cr || c != '\n')
            return "a line between chunks does not end with \\r\\n";
        body->after_cr = false;
        return end_line(body);
    }
    if (c == '\r') {
        body->after_cr = true;
        return NULL;
    }
    if (++body->line_length > LINE_LIMIT_BYTES)
        return "a line between chunks is too long";
    if (body->state == BODY_CHUNK_END)
        return "a chunk is longer than its size";
    if (body->state == BODY_TRAILER || body->in_extension)
        return NULL;
    int digit = hex_value(c);
    if (digit >= 0 && ++body->digits <= SIZE_DIGITS)
        body->left = body->left * 16 + (uint64_t)digit;
    else if (digit < 0 && body->digits > 0 && (c == ';' || c == ' ' || c == '\t'))
        body->in_extension = true;
    else
        return "the size of a chunk is not a hexadecimal number";
    return NULL;
}

/* Takes bytes of the content. Returns how many. */
static size_t take_content(struct body *body, const char *bytes, size_t length,
                           struct text *content) {
    if (body->state != BODY_TO_END) {
        length = length < body->left ? length : (size_t)body->left;
        body->left -= length;
        if (body->left == 0)
            body->state = body->state == BODY_LENGTH ? BODY_DONE : BODY_CHUNK_END;
    }
    body->taken += length;
    if (body->digest != NULL)
        body_digest_add(body->digest, bytes, length);
    if (body->events != NULL)
        events_take(body->events, bytes, length);
    if (content != NULL)
        text_add_some(content, bytes, length);
    return length;
}

ptrdiff_t body_feed(struct body *body, const char *bytes, size_t length, struct text *content,
                    const char **problem) {
    size_t at = 0;
    while (at < length && body->state != BODY_DONE) {
        bool in_content =
            body->state == BODY_LENGTH || body->state == BODY_TO_END || body->state == BODY_CHUNK;
        if (in_content) {
            at += take_content(body, bytes + at, length - at, content);
            continue;
        }
        *problem = take_line_byte(body, bytes[at++]);
        if (*problem != NULL)
            return -1;
    }
    return (ptrdiff_t)at;
}

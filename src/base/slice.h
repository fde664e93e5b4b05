/* A part of a received message, in the buffer where it arrived. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
    const char *bytes;
    size_t length;
};

/* Not memcmp: words are short, and memcmp's page would cost a short-lived process a page fault. */
static inline bool slice_equals(struct slice slice, const char *word) {
    size_t i = 0;
    while (i < slice.length && word[i] != '\0' && slice.bytes[i] == word[i])
        i++;
    return i == slice.length && word[i] == '\0';
}

/* ASCII only, whatever the locale; other bytes are unchanged. */
static inline char slice_to_lower(char c) {
    if (c < 'A' || c > 'Z')
        return c;
    return (char)(c + ('a' - 'A'));
}

/* Ignore ASCII case; the word is in lower case. */
bool slice_equals_any_case(struct slice slice, const char *word);
bool slice_starts_any_case(struct slice slice, const char *word);

/* Without the first `length` bytes. */
static inline struct slice slice_after(struct slice slice, size_t length) {
    return (struct slice){slice.bytes + length, slice.length - length};
}

/* Like memchr, whose page would also cost a page fault. Eight bytes at a time: XOR makes the byte
 * zero where the mark was. */
static inline const char *slice_find(struct slice slice, char mark) {
    const uint64_t ones = UINT64_MAX / 0xFF, marks = ones * (unsigned char)mark;
    const char *at = slice.bytes, *end = at + slice.length;
    for (uint64_t word; end - at >= (ptrdiff_t)sizeof word; at += sizeof word) {
        memcpy(&word, at, sizeof word);
        word ^= marks;
        if (((word - ones) & ~word & ones << 7) != 0)
            break;
    }
    while (at < end && *at != mark)
        at++;
    return at < end ? at : NULL;
}

/* Cuts everything up to and including the first mark off *rest; *before is without the mark.
 * Returns false if there is no mark. */
static inline bool slice_cut(struct slice *rest, char mark, struct slice *before) {
    const char *at = slice_find(*rest, mark);
    if (at == NULL)
        return false;
    *before = (struct slice){rest->bytes, (size_t)(at - rest->bytes)};
    *rest = slice_after(*rest, before->length + 1);
    return true;
}

/* Drops the last byte if it is this one; returns whether it was. */
static inline bool slice_drop_last(struct slice *slice, char last) {
    if (slice->length == 0 || slice->bytes[slice->length - 1] != last)
        return false;
    slice->length--;
    return true;
}

/* Cuts off the next item of a list: up to the mark, or all that is left. */
static inline struct slice slice_next(struct slice *rest, char mark) {
    struct slice item;
    if (slice_cut(rest, mark, &item))
        return item;
    item = *rest;
    *rest = slice_after(item, item.length);
    return item;
}

/* Without surrounding blanks and tabs. */
struct slice slice_trim(struct slice slice);

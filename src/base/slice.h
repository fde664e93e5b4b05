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

/* Eight bytes, to look at them all at once. */
enum { WORD_BYTES = sizeof(uint64_t) };
static const uint64_t WORD_ONES = UINT64_MAX / 0xFF, WORD_TOPS = UINT64_MAX / 0xFF << 7;

static inline uint64_t word_at(const char *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* XOR makes the byte zero where the mark was. */
static inline bool word_has(uint64_t word, char mark) {
    word ^= WORD_ONES * (unsigned char)mark;
    return ((word - WORD_ONES) & ~word & WORD_TOPS) != 0;
}

/* Whether all bytes are printable ASCII. Subtraction borrows only from a byte that is too small. */
static inline bool word_is_printable(uint64_t word) {
    return ((word | (word - WORD_ONES * ' ')) & WORD_TOPS) == 0 && !word_has(word, 0x7F);
}

/* Like memchr, whose page would also cost a page fault. */
static inline const char *slice_find(struct slice slice, char mark) {
    const char *at = slice.bytes, *end = at + slice.length;
    while (end - at >= WORD_BYTES && !word_has(word_at(at), mark))
        at += WORD_BYTES;
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

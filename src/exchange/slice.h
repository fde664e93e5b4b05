/* A part of a request, where it came in. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct slice {
    const char *bytes;
    size_t length;
};

/* By hand: words are short, and memcmp is on a page that a process which lives for one client would
 * have to find for it. */
static inline bool slice_equals(struct slice slice, const char *word) {
    size_t i = 0;
    while (i < slice.length && word[i] != '\0' && slice.bytes[i] == word[i])
        i++;
    return i == slice.length && word[i] == '\0';
}

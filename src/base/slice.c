#include "base/slice.h"

#include "base/hot.h"

/* Length of the common prefix. */
HOT static size_t common_any_case(struct slice slice, const char *word) {
    size_t i = 0;
    while (i < slice.length && word[i] != '\0' && slice_to_lower(slice.bytes[i]) == word[i])
        i++;
    return i;
}

HOT bool slice_equals_any_case(struct slice slice, const char *word) {
    size_t same = common_any_case(slice, word);
    return same == slice.length && word[same] == '\0';
}

bool slice_starts_any_case(struct slice slice, const char *word) {
    return word[common_any_case(slice, word)] == '\0';
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

HOT struct slice slice_trim(struct slice slice) {
    while (slice.length > 0 && is_blank(slice.bytes[0]))
        slice = slice_after(slice, 1);
    while (slice.length > 0 && is_blank(slice.bytes[slice.length - 1]))
        slice.length--;
    return slice;
}

/* For targets that show text: checks that it cannot control a terminal. */
#pragma once
#include "fuzz.h"

#include "base/text.h"

/* Only newlines and printable characters in valid UTF-8. */
UNTRACED static inline void must_be_fit_for_a_terminal(const char *bytes, size_t length) {
    for (size_t at = 0, sequence = 1; at < length; at += sequence) {
        sequence = 1;
        if ((bytes[at] >= ' ' && bytes[at] <= '~') || bytes[at] == '\n')
            continue; /* the quick path for nearly every byte */
        sequence = utf8_sequence(bytes + at, length - at);
        MUST(sequence > 0 && !utf8_is_nonprinting(bytes + at, sequence));
    }
}

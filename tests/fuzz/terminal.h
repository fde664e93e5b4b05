/* What is shown must be fit for a terminal. Included by the targets that show something. */
#pragma once
#include "fuzz.h"

#include "base/text.h"

/* Lines of valid UTF-8 that a terminal shows, and does not obey. */
UNTRACED static inline void must_be_fit_for_a_terminal(const char *bytes, size_t length) {
    for (size_t at = 0, sequence = 1; at < length; at += sequence) {
        sequence = 1;
        if ((bytes[at] >= ' ' && bytes[at] <= '~') || bytes[at] == '\n')
            continue; /* nearly every byte, and no question */
        sequence = utf8_sequence(bytes + at, length - at);
        MUST(sequence > 0 && !utf8_is_obeyed(bytes + at, sequence));
    }
}

/* Finds the end of a reply in a protocol that the client does not know: the first byte at which
 * what has arrived contains a match of a regular expression.
 *
 * A match of at most UNTIL_SPAN bytes is found however the bytes are split. Each byte is looked at
 * twice at most, however long the reply is. */
#pragma once
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UNTIL_SPAN = 1024, UNTIL_PATTERN_LIMIT = 256 };

struct until {
    regex_t pattern;
};

/* Compiles a POSIX extended regular expression with the escapes of escape.h, in which ^ is the
 * start of a line and . no line feed. Returns 0, or -EINVAL and what is wrong. */
int until_compile(struct until *until, const char *text, const char **problem);

/* The last bytes before those that arrive next. */
struct until_tail {
    char *bytes; /* UNTIL_SPAN bytes of the caller's */
    uint32_t length;
    bool is_cut; /* bytes came before them */
};

enum until_found {
    UNTIL_MISSING,
    UNTIL_AT_END, /* the reply ends with these bytes */
    UNTIL_BEFORE, /* the reply ended before the last of them */
};

enum until_found until_feed(const struct until *until, struct until_tail *tail, const char *bytes,
                            size_t length);

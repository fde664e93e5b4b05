/* How large a pattern becomes when regcomp compiles it: x+ and x{n} are copies of x, so that
 * repetitions of repetitions multiply, up to all memory. Those of x* and x? take as much time. */
#pragma once
#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum { UNTIL_DEPTH = 32, UNTIL_PARTS = 2000 };

struct until_size {
    uint32_t parts[UNTIL_DEPTH + 1]; /* of each open group, the pattern itself first */
    uint32_t last;                   /* parts of what a repetition would repeat */
    uint32_t depth;
    uint32_t skip; /* bytes of an interval that are yet to come */
    bool is_huge;  /* more than UNTIL_PARTS, or too many groups within groups */
};

/* A literal or a bracket expression. */
void until_size_atom(struct until_size *size);

/* Whatever else the rest of the pattern begins with, outside brackets and not escaped. */
void until_size_add(struct until_size *size, struct slice rest);

/* How large a pattern becomes when regcomp compiles it. x+ and x{n} are copies of x, so that
 * repetitions of repetitions multiply, up to all memory; so does the time that those of x* and x?
 * take. */
#pragma once
#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum { UNTIL_GROUPS = 32, UNTIL_PARTS = 2000, UNTIL_REPEATED = 3 };

struct until_part {
    uint32_t parts;    /* literals and bracket expressions, as often as they are copied */
    uint32_t repeated; /* how many repetitions are within one another */
};

struct until_size {
    struct until_part groups[UNTIL_GROUPS + 1]; /* the open ones, the pattern itself first */
    struct until_part last;                     /* what a repetition would repeat */
    uint32_t depth;
    uint32_t skip; /* bytes of an interval that are yet to come */
    bool is_huge;  /* beyond one of the limits */
};

/* A literal or a bracket expression. */
void until_size_atom(struct until_size *size);

/* Whatever else the rest of the pattern begins with, outside brackets and not escaped. */
void until_size_add(struct until_size *size, struct slice rest);

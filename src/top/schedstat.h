/* The text of /proc/[pid]/schedstat: how often the first thread of a process was put on a CPU, and
 * for how long it ran. When neither has moved, it has not run. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct schedstat {
    uint64_t ran_ns;
    uint64_t turns; /* on a CPU; 0: this kernel does not count them, or it has never run */
};

/* "ran waited turns\n". Text of any other form gives zeroes: nothing is known then. */
struct schedstat schedstat_parse(const char *text, size_t length);

/* Whether both are known, and the same. */
static inline bool schedstat_is(struct schedstat a, struct schedstat b) {
    return a.turns != 0 && a.turns == b.turns && a.ran_ns == b.ran_ns;
}

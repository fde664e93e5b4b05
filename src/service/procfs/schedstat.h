/* /proc/[pid]/schedstat: how often the first thread of a process was put on a CPU and how long
 * it ran. If neither has changed, it has not run. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct schedstat {
    uint64_t ran_ns;
    uint64_t turns; /* on a CPU; 0: never, or not counted by this kernel */
};

/* "ran waited turns\n". Any other text gives zeroes: unknown. */
struct schedstat schedstat_parse(const char *text, size_t length);

/* Whether both are known and equal. */
static inline bool schedstat_is(struct schedstat a, struct schedstat b) {
    return a.turns != 0 && a.turns == b.turns && a.ran_ns == b.ran_ns;
}

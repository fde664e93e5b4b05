/* Memory that forked processes share, in one piece from which the parts of the history take theirs:
 * each piece would be one more to copy for each process that is forked. Pages cost something once
 * they were touched, so what is reserved may be as much as there can ever be. */
#pragma once
#include <stddef.h>

struct region {
    char *memory;
    size_t bytes, taken;
};

/* What region_take takes of it for so many bytes. */
static inline size_t region_share(size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

/* Returns 0 or -errno. */
int region_open(struct region *region, size_t bytes);
void region_close(const struct region *region);

/* Zeroed, on cache lines of its own. There must be as much left. */
void *region_take(struct region *region, size_t bytes);

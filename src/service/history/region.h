/* Memory that forked processes share, in one piece for all parts of the history. Only touched pages
 * cost memory, so enough for the worst case is reserved. */
#pragma once
#include <stddef.h>

struct region {
    char *memory;
    size_t bytes, taken;
};

/* What region_take takes for so many bytes. */
static inline size_t region_share(size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

/* Returns 0 or -errno. */
int region_open(struct region *region, size_t bytes);
void region_close(const struct region *region);

/* Zeroed, on cache lines of its own. There must be enough left. */
void *region_take(struct region *region, size_t bytes);

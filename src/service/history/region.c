#include "service/history/region.h"

#include "base/shared_memory.h"

#include <assert.h>
#include <errno.h>

int region_open(struct region *region, size_t bytes) {
    void *memory = shared_memory_map(bytes);
    if (memory == NULL)
        return -ENOMEM;
    *region = (struct region){.memory = memory, .bytes = bytes};
    return 0;
}

void region_close(const struct region *region) {
    shared_memory_unmap(region->memory, region->bytes);
}

void *region_take(struct region *region, size_t bytes) {
    void *taken = region->memory + region->taken;
    region->taken += region_share(bytes);
    assert(region->taken <= region->bytes);
    return taken;
}

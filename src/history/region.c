#include "history/region.h"

#include <assert.h>
#include <errno.h>
#include <sys/mman.h>

int region_open(struct region *region, size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return -errno;
    *region = (struct region){.memory = memory, .bytes = bytes};
    return 0;
}

void region_close(const struct region *region) {
    munmap(region->memory, region->bytes);
}

void *region_take(struct region *region, size_t bytes) {
    void *taken = region->memory + region->taken;
    region->taken += region_share(bytes);
    assert(region->taken <= region->bytes);
    return taken;
}

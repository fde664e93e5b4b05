#include "history/region.h"

#include <sys/mman.h>

void *region_open(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

void region_close(void *memory, size_t bytes) {
    if (memory != NULL)
        munmap(memory, bytes);
}

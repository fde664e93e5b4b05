#include "base/shared_memory.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    AROUND_BYTES = 64 * 1024, /* what the kernel maps at one fault, at a multiple of it */
    AREA_BYTES = 1024 * 1024, /* mapped at once, for many small pieces */
    LARGE_BYTES = 512 * 1024,
};

/* What is left of an area. */
static struct {
    char *at;
    size_t bytes;
} left;

static void *map(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

static size_t whole_pages(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

void *shared_memory_take(size_t bytes) {
    bytes = whole_pages(bytes);
    if (bytes > LARGE_BYTES)
        return map(bytes);
    if (bytes > left.bytes) {
        char *area = map(AREA_BYTES + AROUND_BYTES);
        if (area == NULL)
            return NULL;
        left.at = area + -(uintptr_t)area % AROUND_BYTES;
        left.bytes = AREA_BYTES;
    }
    void *taken = left.at;
    left.at += bytes;
    left.bytes -= bytes;
    return taken;
}

void shared_memory_give(void *memory, size_t bytes) {
    munmap(memory, whole_pages(bytes));
}

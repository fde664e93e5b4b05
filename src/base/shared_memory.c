#include "base/shared_memory.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    AROUND_BYTES = 64 * 1024, /* mapped by one read fault ("fault-around"), at a multiple of it */
    AREA_BYTES = 1024 * 1024, /* one mapping, divided into many small pieces */
    LARGE_BYTES = 512 * 1024, /* a larger piece has its own mapping */
};

/* The unused rest of the current area. */
static struct {
    char *at;
    size_t bytes;
} rest;

static void *map(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

static size_t whole_pages(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

void *shared_memory_map(size_t bytes) {
    bytes = whole_pages(bytes);
    if (bytes > LARGE_BYTES)
        return map(bytes);
    if (bytes > rest.bytes) {
        char *area = map(AREA_BYTES + AROUND_BYTES);
        if (area == NULL)
            return NULL;
        rest.at = area + -(uintptr_t)area % AROUND_BYTES;
        rest.bytes = AREA_BYTES;
    }
    void *piece = rest.at;
    rest.at += bytes;
    rest.bytes -= bytes;
    return piece;
}

void shared_memory_unmap(void *memory, size_t bytes) {
    munmap(memory, whole_pages(bytes));
}

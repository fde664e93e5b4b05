#include "server/stats.h"

#include <stddef.h>
#include <sys/mman.h>

const char *const error_names[ERROR_KINDS] = {
    "malformed",    "too_long", "not_found", "timeout",
    "disconnected", "refused",  "accept",    "unavailable",
};

struct stats *stats_create(void) {
    void *memory =
        mmap(NULL, sizeof(struct stats), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

void stats_destroy(struct stats *stats) {
    munmap(stats, sizeof *stats);
}

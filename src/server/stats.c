#include "server/stats.h"

#include <stddef.h>
#include <sys/mman.h>

const char *const error_names[ERROR_KINDS] = {
    "malformed", "too_long", "not_found",   "timeout", "disconnected",
    "refused",   "accept",   "unavailable", "denied",
};

static size_t size_of(unsigned workers) {
    return sizeof(struct stats) + workers * sizeof(struct worker_stats);
}

struct stats *stats_create(unsigned workers) {
    void *memory =
        mmap(NULL, size_of(workers), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    struct stats *stats = memory;
    stats->worker_count = workers;
    return stats;
}

void stats_destroy(struct stats *stats) {
    munmap(stats, size_of(stats->worker_count));
}

uint64_t stats_requests(const struct stats *stats) {
    uint64_t requests = 0;
    for (unsigned i = 0; i < stats->worker_count; i++)
        requests += stats_read(&stats->workers[i].requests);
    return requests;
}

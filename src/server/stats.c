#include "server/stats.h"

#include "base/clock.h"
#include "base/shared_memory.h"

#include <sys/resource.h>
#include <unistd.h>

const char *const error_names[ERROR_KINDS] = {
    "malformed", "too_long", "not_found",   "timeout", "disconnected",
    "refused",   "accept",   "unavailable", "denied",
};

static size_t size_of(unsigned workers) {
    return sizeof(struct stats) + workers * sizeof(struct worker_stats);
}

struct stats *stats_create(unsigned workers) {
    struct stats *stats = shared_memory_map(size_of(workers));
    if (stats == NULL)
        return NULL;
    stats->worker_count = workers;
    stats->started_at_ns = clock_unix_ns();
    stats->pid = getpid();
    return stats;
}

void stats_destroy(struct stats *stats) {
    shared_memory_unmap(stats, size_of(stats->worker_count));
}

void stats_add_reaped(struct stats *stats, const struct rusage *used) {
    int64_t s = used->ru_utime.tv_sec + used->ru_stime.tv_sec;
    int64_t us = used->ru_utime.tv_usec + used->ru_stime.tv_usec;
    atomic_fetch_add_explicit(&stats->reaped_ns, s * NS_PER_S + us * NS_PER_US,
                              memory_order_relaxed);
}

uint64_t worker_requests(const struct worker_stats *worker) {
    uint64_t requests = 0;
    for (unsigned index = 0; index < STATS_STATUSES; index++)
        for (unsigned dialect = 0; dialect < STATS_DIALECTS; dialect++)
            requests += stats_read(&worker->replies[index][dialect]);
    return requests;
}

uint64_t stats_requests(const struct stats *stats) {
    uint64_t requests = worker_requests(&stats->loop);
    for (unsigned i = 0; i < stats->worker_count; i++)
        requests += worker_requests(&stats->workers[i]);
    return requests;
}

uint64_t stats_open(const struct stats *stats) {
    uint64_t open = stats_read(&stats->open);
    for (unsigned i = 0; i < stats->worker_count; i++)
        open += stats_read(&stats->workers[i].open);
    return open;
}

const enum status stats_statuses[STATS_STATUSES] = {
    STATUS_OK,          STATUS_BAD_REQUEST,        STATUS_UNAUTHORIZED, STATUS_FORBIDDEN,
    STATUS_NOT_FOUND,   STATUS_METHOD_NOT_ALLOWED, STATUS_TIMEOUT,      STATUS_URI_TOO_LONG,
    STATUS_MISDIRECTED, STATUS_HEAD_TOO_LARGE,     STATUS_UNAVAILABLE,  STATUS_VERSION,
};

unsigned stats_index(enum status status) {
    switch (status) {
    case STATUS_OK:
        return 0;
    case STATUS_BAD_REQUEST:
        break;
    case STATUS_UNAUTHORIZED:
        return 2;
    case STATUS_FORBIDDEN:
        return 3;
    case STATUS_NOT_FOUND:
        return 4;
    case STATUS_METHOD_NOT_ALLOWED:
        return 5;
    case STATUS_TIMEOUT:
        return 6;
    case STATUS_URI_TOO_LONG:
        return 7;
    case STATUS_MISDIRECTED:
        return 8;
    case STATUS_HEAD_TOO_LARGE:
        return 9;
    case STATUS_UNAVAILABLE:
        return 10;
    case STATUS_VERSION:
        return 11;
    }
    return 1;
}

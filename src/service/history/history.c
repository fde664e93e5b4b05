#include "service/history/history.h"

#include "base/shared_mutex.h"
#include "service/history/state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char kernel_worker[] = "kworker";

/* With nothing in the table and no labels. */
static void begin(struct history *history) {
    changes_begin(&history->seconds, &history->pool, SHORT_READINGS);
    changes_begin(&history->tens, &history->pool, LONG_READINGS);
    history->kernel_workers = labels_use(&history->names, kernel_worker, sizeof kernel_worker - 1);
}

/* Back to before the first reading. The counters of /metrics stay. */
static void forget(struct history *history) {
    atomic_store(&history->taken_mono_ns, 0);
    memset(history->lookups, 0, history->table.slots * sizeof *history->lookups);
    memset(history->sums, 0, history->table.slots * sizeof *history->sums);
    table_reset(&history->table);
    labels_reset(&history->names);
    labels_reset(&history->cgroups);
    labels_reset(&history->units);
    history->pool.count = history->pool.free = 0;
    history->number = 0;
    history->alive = 0;
    history->told_ns = 0;
    begin(history);
    metric_groups_relabel(&history->metric_groups, &history->names);
}

static size_t bytes_for(uint32_t capacity) {
    uint32_t labels = capacity + LABELS_RESTING;
    return region_share(sizeof(struct history)) + table_bytes(capacity) +
           region_share(capacity * sizeof(struct lookup)) +
           region_share(capacity * sizeof(struct sum)) + labels_bytes(NAME_LIMIT, labels) +
           2 * labels_bytes(HISTORY_NAME_LIMIT, labels) + changes_pool_bytes();
}

static struct history *open_in(struct region *region, uint32_t capacity) {
    struct history *history = region_take(region, sizeof *history);
    uint32_t labels = capacity + LABELS_RESTING;
    table_open(&history->table, capacity, region);
    history->lookups = region_take(region, capacity * sizeof(struct lookup));
    history->sums = region_take(region, capacity * sizeof(struct sum));
    labels_open(&history->names, NAME_LIMIT, labels, region);
    labels_open(&history->cgroups, HISTORY_NAME_LIMIT, labels, region);
    labels_open(&history->units, HISTORY_NAME_LIMIT, labels, region);
    changes_pool_open(&history->pool, region);
    history->region = *region;
    return history;
}

/* Where memory cannot be overcommitted, makes room for fewer processes. */
static int open_region(struct region *region, uint32_t *capacity) {
    int error;
    *capacity = table_capacity();
    while ((error = region_open(region, bytes_for(*capacity))) == -ENOMEM && *capacity > PIDS_LEAST)
        *capacity /= 2;
    return error;
}

int history_open(struct history **opened) {
    struct region region;
    uint32_t capacity;
    int error = open_region(&region, &capacity);
    if (error != 0)
        return error;
    struct history *history = open_in(&region, capacity);
    history->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    shared_mutex_open(&history->looking);
    shared_mutex_open(&history->lock);
    begin(history); /* the memory is zeroed; what is not touched is not there */
    *opened = history;
    return 0;
}

void history_close(struct history *history) {
    const struct region region = history->region;
    if (history->proc > 0)
        close(history->proc);
    region_close(&region);
}

void history_lock(struct history *history) {
    if (!shared_mutex_lock(&history->lock))
        forget(history);
}

void history_unlock(struct history *history) {
    pthread_mutex_unlock(&history->lock);
}

int64_t history_taken_mono_ns(const struct history *history) {
    return atomic_load(&history->taken_mono_ns);
}

unsigned history_groups(struct history *history, struct history_group *out,
                        struct history_group *rest) {
    unsigned count = 0;
    uint32_t processes[METRIC_GROUPS + 1] = {0}; /* of each group, and of none */
    history_lock(history);
    const struct metric_groups *counted = &history->metric_groups;
    for (uint32_t i = 0; i < history->table.count; i++) {
        const struct member *member = table_member(&history->table, i);
        uint32_t group = history_group_of(history, member->name);
        unsigned place = group != 0 ? label_at(&history->names, group)->metric_group : 0;
        processes[place] += member->gone_ms == 0;
    }
    for (unsigned i = 0; i < METRIC_GROUPS; i++) {
        const struct metric_group *from = &counted->groups[i];
        if (from->label == 0)
            continue;
        struct history_group *group = &out[count++];
        *group = (struct history_group){.processes = processes[i + 1],
                                        .user_ns = from->user_ns,
                                        .system_ns = from->system_ns,
                                        .name_length = from->name_length};
        memcpy(group->name, from->name, from->name_length);
    }
    *rest = (struct history_group){.processes = processes[0],
                                   .user_ns = counted->rest_user_ns,
                                   .system_ns = counted->rest_system_ns};
    history_unlock(history);
    return count;
}

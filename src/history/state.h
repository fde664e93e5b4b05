/* What the parts of the history share: the state itself, and how it is entered. */
#pragma once
#include "history/changes.h"
#include "history/history.h"
#include "history/labels.h"
#include "history/metric_groups.h"
#include "history/table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum {
    SHORT_STEP_MS = 900, /* a reading so long after the last kept one is kept too */
    SHORT_READINGS = 14, /* ... so many of them: 13 s if there is one a second */
    LONG_STEP_MS = 9900, /* the same of those that are kept for a minute */
    LONG_READINGS = 8,
};

struct history {
    struct region region; /* that all of it lies in */
    pthread_mutex_t lock; /* of all that follows but what is atomic */
    _Atomic int64_t taken_mono_ns;
    struct scan newest;
    uint32_t number;    /* of the kept reading that is next */
    bool wants_cgroups; /* somebody asked for groups of them */
    int proc;           /* /proc, to look for them */
    struct table table;
    uint32_t alive;
    int64_t told_ns; /* since the boot: when ended processes were last told; 0: never */
    struct changes_pool pool;
    struct changes seconds, tens;
    struct labels names, cgroups, units;
    uint32_t kernel_workers; /* the name that they are counted as */
    struct metric_groups metric_groups;
};

/* If another process died with the lock, what it left half done is forgotten: the processes and
 * their last minute, but no counter. */
void history_lock(struct history *history);
void history_unlock(struct history *history);

/* The label that a process of this name is counted as. */
static inline uint32_t history_group_of(const struct history *history, uint32_t name) {
    uint32_t group = name != 0 ? label_at(&history->names, name)->group : 0;
    return group != 0 ? group : name;
}

/* Looks for the control groups of processes that have none, or that may have moved. */
void history_look_for_cgroups(struct history *history);

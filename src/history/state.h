/* Shared by the parts of the history: its state and lock. */
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
    SHORT_STEP_MS = 900, /* keep a reading so long after the last kept one, */
    SHORT_READINGS = 14, /* ... so many of them: 13 s with one a second */
    LONG_STEP_MS = 9900, /* the same for those kept for a minute */
    LONG_READINGS = 8,
};

struct history {
    struct region region; /* that holds all of it */
    pthread_mutex_t lock; /* guards all that follows but the atomic */
    _Atomic int64_t taken_mono_ns;
    struct scan newest;
    uint32_t number;    /* of the next kept reading */
    bool wants_cgroups; /* a client has asked for them */
    int proc;           /* /proc, to look them up */
    struct table table;
    uint32_t alive;
    int64_t told_ns; /* since boot: when ends were last reported; 0: never */
    struct changes_pool pool;
    struct changes seconds, tens;
    struct labels names, cgroups, units;
    uint32_t kernel_workers; /* the name that they count as */
    struct metric_groups metric_groups;
};

/* If another process died with the lock, forgets the processes and their last minute, but no
 * counter. */
void history_lock(struct history *history);
void history_unlock(struct history *history);

/* The label that a process of this name counts as. */
static inline uint32_t history_group_of(const struct history *history, uint32_t name) {
    uint32_t group = name != 0 ? label_at(&history->names, name)->group : 0;
    return group != 0 ? group : name;
}

/* Looks up control groups of processes that have none or may have moved. */
void history_look_for_cgroups(struct history *history);

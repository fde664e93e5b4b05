/* Shared by the parts of the history: its state and lock. */
#pragma once
#include "base/clock.h"
#include "service/history/changes.h"
#include "service/history/history.h"
#include "service/history/labels.h"
#include "service/history/metric_groups.h"
#include "service/history/table.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum {
    SHORT_STEP_MS = 900, /* keep a reading so long after the last kept one, */
    SHORT_READINGS = 14, /* ... so many of them: 13 s with one a second */
    LONG_STEP_MS = 9900, /* the same for those kept for a minute */
    LONG_READINGS = 8,
};

static_assert(LONG_STEP_MS / SHORT_STEP_MS < SHORT_READINGS,
              "`seconds` reaches back to the newest of `tens`");

struct sum {
    int64_t user_ns, system_ns;
};

struct lookup {
    uint32_t cgroup;   /* a label; 0: not looked up yet */
    uint32_t looked_s; /* since boot */
};

struct history {
    struct region region;    /* that holds all of it */
    pthread_mutex_t looking; /* held while control groups are looked up; taken before `lock` */
    pthread_mutex_t lock;    /* guards all that follows but the atomic */
    _Atomic int64_t taken_mono_ns;
    struct scan newest;
    uint32_t number;          /* of the next kept reading */
    int64_t cgroups_asked_ns; /* since boot: when a client last asked for them; 0: never */
    int proc;                 /* /proc, to look them up */
    struct table table;
    uint32_t alive;
    int64_t told_ns; /* since boot: when ends were last reported; 0: never */
    /* Of each slot, in pages that are touched only where there is something to store: */
    struct lookup *lookups; /* ... its control group, once a client has asked for them; */
    struct sum *sums;       /* ... zero, but while `seconds` are added up */
    struct changes_pool pool;
    struct changes seconds, tens; /* tens: sums of the seconds before */
    struct labels names, cgroups, units;
    uint32_t kernel_workers; /* the name that they count as */
    struct metric_groups metric_groups;
};

/* If another process died with the lock, forgets the processes and their last minute, but no
 * counter. */
void history_lock(struct history *history);
void history_unlock(struct history *history);

/* As a member keeps what of its times was noted. */
static inline uint32_t history_low_us(int64_t ns) {
    return (uint32_t)(ns / NS_PER_US);
}

/* A change_visit: adds a change to the sum of its slot, unless its process has ended. */
struct summing {
    const struct history *history;
    struct sum *sums; /* of each slot */
};
void history_add_up(void *summing, const struct change *change, uint32_t number);

/* Calls `each` for each change in `seconds` that no list of `tens` includes. */
void history_each_since_tens(const struct history *history, change_visit *each, void *context);

/* The label that a process of this name counts as. */
static inline uint32_t history_group_of(const struct history *history, uint32_t name) {
    uint32_t group = name != 0 ? label_at(&history->names, name)->group : 0;
    return group != 0 ? group : name;
}

/* As history_lock, for a client that asks for control groups: all are known then. */
void history_lock_with_cgroups(struct history *history);

/* Looks up the control groups of processes, one file each: only while clients ask for them, and
 * again only for processes that may have moved. The first lookup on a host with 10,000 processes
 * takes a tenth of a second, so the history's lock is released while a file is read. Only one
 * thread at a time looks up; the next one finds its results. */
#include "base/clock.h"
#include "base/shared_mutex.h"
#include "service/history/cgroup.h"
#include "service/history/state.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum {
    CGROUP_BYTES = 8 * 1024, /* on a host of version 1 with a dozen hierarchies */
    YOUNG_S = 10,            /* a new process is moved soon, if at all */
    AGAIN_S = 60,
    SPREAD_S = 16, /* not all in the same second */
    WANTED_S = 60, /* after a client has asked */
    PASSES = 4,    /* over all processes, for those that came or moved meanwhile */
};

static const char unknown[] = "?"; /* unreadable or empty */

/* Returns the path, within `text` or a constant. */
static const char *read_cgroup(const struct history *history, int32_t pid, char text[CGROUP_BYTES],
                               size_t *length) {
    char path[32];
    const char *cgroup = NULL;
    snprintf(path, sizeof path, "%d/cgroup", pid);
    int fd = openat(history->proc, path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t got = read(fd, text, CGROUP_BYTES);
        close(fd);
        cgroup = got > 0 ? cgroup_path(text, (size_t)got, length) : NULL;
    }
    if (cgroup != NULL)
        return cgroup;
    *length = sizeof unknown - 1;
    return unknown;
}

static bool is_due(const struct member *member, const struct lookup *lookup, uint32_t now_s) {
    uint32_t started_s = (uint32_t)(member->started_ns / NS_PER_S);
    if (lookup->cgroup == 0)
        return true;
    if (lookup->looked_s < started_s + YOUNG_S && now_s >= started_s + YOUNG_S)
        return true;
    return now_s - lookup->looked_s >= AGAIN_S + (uint32_t)member->pid % SPREAD_S;
}

static struct lookup *lookup_of(const struct history *history, const struct member *member) {
    return &history->lookups[table_slot(&history->table, member)];
}

/* The first process at or after this identity; NULL: none. */
static const struct member *next_due(const struct history *history, int32_t pid, int64_t started_ns,
                                     uint32_t now_s) {
    const struct table *table = &history->table;
    for (uint32_t i = table_from(table, pid, started_ns); i < table->count; i++) {
        const struct member *member = table_member(table, i);
        if (member->gone_ms == 0 && is_due(member, lookup_of(history, member), now_s))
            return member;
    }
    return NULL;
}

/* Unless the process has ended meanwhile. */
static void store(struct history *history, int32_t pid, int64_t started_ns, struct lookup found) {
    const struct member *member = table_find(&history->table, pid, started_ns);
    uint32_t unused = found.cgroup;
    if (member != NULL) {
        struct lookup *lookup = lookup_of(history, member);
        unused = lookup->cgroup;
        *lookup = found;
    }
    labels_leave(&history->cgroups, unused);
}

/* Call it with the history's lock, which is released while a file is read. Returns whether any file
 * was. */
static bool look_at_all(struct history *history) {
    char text[CGROUP_BYTES];
    size_t length;
    bool any = false;
    int32_t pid = 0;
    int64_t started_ns = 0;
    const uint32_t now_s = (uint32_t)(clock_boot_ns() / NS_PER_S);
    for (const struct member *member; (member = next_due(history, pid, started_ns, now_s)) != NULL;
         started_ns++) {
        pid = member->pid;
        started_ns = member->started_ns;
        any = true;
        history_unlock(history);
        const char *cgroup = read_cgroup(history, pid, text, &length);
        history_lock(history);
        store(history, pid, started_ns,
              (struct lookup){labels_use(&history->cgroups, cgroup, length), now_s});
    }
    return any;
}

/* Call it with both locks. A pass in which nothing is due never releases the lock: then all are
 * known. The limit is for a host that starts processes faster than they can be looked up. */
static void look(struct history *history) {
    for (int pass = 0; pass < PASSES && look_at_all(history); pass++)
        continue;
}

static bool is_wanted(const struct history *history) {
    return history->cgroups_asked_ns != 0 &&
           clock_boot_ns() - history->cgroups_asked_ns < WANTED_S * (int64_t)NS_PER_S;
}

void history_lock_with_cgroups(struct history *history) {
    shared_mutex_lock(&history->looking); /* it guards nothing that could be half changed */
    history_lock(history);
    history->cgroups_asked_ns = clock_boot_ns();
    look(history);
    pthread_mutex_unlock(&history->looking);
}

void history_look_ahead(struct history *history) {
    shared_mutex_lock(&history->looking);
    history_lock(history);
    if (is_wanted(history))
        look(history);
    history_unlock(history);
    pthread_mutex_unlock(&history->looking);
}

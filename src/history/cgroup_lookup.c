/* Looks up the control groups of processes, a file each: only while a client asks for them now and
 * then, and again only for processes that may have moved. */
#include "base/clock.h"
#include "history/cgroup.h"
#include "history/state.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum {
    CGROUP_BYTES = 8 * 1024, /* on a host of version 1 with a dozen hierarchies */
    YOUNG_S = 10,            /* a new process is moved soon, if at all */
    AGAIN_S = 60,
    SPREAD_S = 16, /* not all in the same second */
    WANTED_S = 60, /* after a client has asked */
};

static const char unknown[] = "?"; /* unreadable or empty */

static uint32_t look(struct history *history, int32_t pid) {
    char path[32], text[CGROUP_BYTES];
    size_t length = 0;
    const char *cgroup = NULL;
    snprintf(path, sizeof path, "%d/cgroup", pid);
    int fd = openat(history->proc, path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t got = read(fd, text, sizeof text);
        close(fd);
        cgroup = got > 0 ? cgroup_path(text, (size_t)got, &length) : NULL;
    }
    if (cgroup == NULL)
        return labels_use(&history->cgroups, unknown, sizeof unknown - 1);
    return labels_use(&history->cgroups, cgroup, length);
}

static bool is_due(const struct member *member, const struct lookup *lookup, uint32_t now_s) {
    uint32_t started_s = (uint32_t)(member->started_ns / NS_PER_S);
    if (lookup->cgroup == 0)
        return true;
    if (lookup->looked_s < started_s + YOUNG_S && now_s >= started_s + YOUNG_S)
        return true;
    return now_s - lookup->looked_s >= AGAIN_S + (uint32_t)member->pid % SPREAD_S;
}

void history_look_for_cgroups(struct history *history) {
    uint32_t now_s = (uint32_t)(clock_boot_ns() / NS_PER_S);
    for (uint32_t i = 0; i < history->table.count; i++) {
        const struct member *member = table_member(&history->table, i);
        struct lookup *lookup = &history->lookups[table_slot(&history->table, member)];
        if (member->gone_ms != 0 || !is_due(member, lookup, now_s))
            continue;
        uint32_t before = lookup->cgroup;
        *lookup = (struct lookup){look(history, member->pid), now_s};
        labels_leave(&history->cgroups, before);
    }
}

void history_look_for_wanted_cgroups(struct history *history) {
    if (history->cgroups_asked_ns != 0 &&
        clock_boot_ns() - history->cgroups_asked_ns < WANTED_S * (int64_t)NS_PER_S)
        history_look_for_cgroups(history);
}

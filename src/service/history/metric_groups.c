#include "service/history/metric_groups.h"

#include "base/clock.h"
#include "base/number.h"

#include <string.h>

enum { STEP_GROUPS = 5 }; /* each so many, the next ones need twice as much */

static const int64_t first_need_ns = INT64_C(10) * NS_PER_MS;
static const int64_t idle_ns = INT64_C(1) * NS_PER_S; /* less than that in an hour is idle */
static const int64_t hour_ns = INT64_C(3600) * NS_PER_S;

static int64_t total_ns(const struct metric_group *group) {
    return group->user_ns + group->system_ns;
}

static void take(struct metric_groups *groups, struct labels *labels, uint32_t number,
                 int64_t now_ns) {
    uint8_t at = 0;
    while (groups->groups[at].label != 0)
        at++;
    struct label *label = label_at(labels, number);
    struct metric_group *group = &groups->groups[at];
    *group = (struct metric_group){.label = number,
                                   .name_length = label->length,
                                   .user_ns = label->new_user_ns,
                                   .system_ns = label->new_system_ns,
                                   .hour_at_ns = now_ns};
    groups->user_ns += label->new_user_ns;
    groups->system_ns += label->new_system_ns;
    memcpy(group->name, label->text, label->length);
    labels_share(labels, number);
    label->metric_group = (uint8_t)(at + 1);
    groups->count++;
}

void metric_groups_add(struct metric_groups *groups, struct labels *labels, uint32_t number,
                       int64_t user_ns, int64_t system_ns, int64_t now_ns) {
    if (number == 0 || user_ns + system_ns == 0)
        return;
    struct label *label = label_at(labels, number);
    if (label->metric_group != 0) {
        struct metric_group *group = &groups->groups[label->metric_group - 1];
        group->user_ns += user_ns;
        group->system_ns += system_ns;
        groups->user_ns += user_ns;
        groups->system_ns += system_ns;
        if (total_ns(group) - group->hour_used_ns >= idle_ns)
            group->is_idle = false;
        return;
    }
    label->used_ns += user_ns + system_ns;
    if (label->settled != groups->settled)
        label->new_user_ns = label->new_system_ns = 0;
    label->settled = groups->settled;
    label->new_user_ns += user_ns;
    label->new_system_ns += system_ns;
    if (label->used_ns < first_need_ns << (groups->count / STEP_GROUPS))
        return;
    if (groups->count < METRIC_GROUPS)
        take(groups, labels, number, now_ns);
    else
        groups->is_wanted = true;
}

static void end(struct metric_groups *groups, struct labels *labels, struct metric_group *group) {
    struct label *label = label_at(labels, group->label);
    label->metric_group = 0;
    label->used_ns = 0;
    labels_leave(labels, group->label);
    group->label = 0;
    groups->count--;
}

static void count_hour(struct metric_group *group, int64_t now_ns) {
    if (now_ns - group->hour_at_ns < hour_ns)
        return;
    group->is_idle = total_ns(group) - group->hour_used_ns < idle_ns;
    group->hour_at_ns = now_ns;
    group->hour_used_ns = total_ns(group);
}

static void free_idle(struct metric_groups *groups, struct labels *labels, int64_t now_ns) {
    for (unsigned i = 0; i < METRIC_GROUPS; i++) {
        struct metric_group *group = &groups->groups[i];
        if (group->label == 0)
            continue;
        count_hour(group, now_ns);
        bool has_processes = label_at(labels, group->label)->users > 1; /* one is the group */
        if (group->is_idle && (!has_processes || groups->is_wanted)) {
            end(groups, labels, group);
            groups->is_wanted = false;
        }
    }
}

/* User, system and their sum must never decrease. The kernel samples machine and processes
 * separately, so they differ more in user and system than in the sum: the sum decides. */
static void settle_rest(struct metric_groups *groups, const struct scan *scan) {
    if (scan->user_ns + scan->system_ns == 0)
        return; /* unknown */
    if (!groups->has_begun) {
        groups->has_begun = true;
        groups->begun_user_ns = scan->user_ns;
        groups->begun_system_ns = scan->system_ns;
    }
    int64_t user_ns = scan->user_ns - groups->begun_user_ns - groups->user_ns;
    int64_t system_ns = scan->system_ns - groups->begun_system_ns - groups->system_ns;
    int64_t more_ns = user_ns + system_ns - groups->rest_user_ns - groups->rest_system_ns;
    if (more_ns <= 0)
        return;
    int64_t more_user_ns = number_within(user_ns - groups->rest_user_ns, 0, more_ns);
    groups->rest_user_ns += more_user_ns;
    groups->rest_system_ns += more_ns - more_user_ns;
}

void metric_groups_settle(struct metric_groups *groups, struct labels *labels,
                          const struct scan *scan) {
    settle_rest(groups, scan);
    groups->settled++;
    free_idle(groups, labels, scan->taken_mono_ns);
}

void metric_groups_relabel(struct metric_groups *groups, struct labels *labels) {
    groups->count = 0;
    for (unsigned i = 0; i < METRIC_GROUPS; i++) {
        struct metric_group *group = &groups->groups[i];
        if (group->label == 0)
            continue;
        groups->count++;
        group->label = labels_use(labels, group->name, group->name_length);
        label_at(labels, group->label)->metric_group = (uint8_t)(i + 1);
    }
}

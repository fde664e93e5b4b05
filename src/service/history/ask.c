/* Answers from the newest reading and the kept ones. */
#include "base/clock.h"
#include "base/number.h"
#include "service/history/cgroup.h"
#include "service/history/history.h"
#include "service/history/state.h"

#include <stdlib.h>
#include <string.h>

/* An answer in progress. */
struct answer {
    struct history *history;
    const struct history_ask *ask;
    struct history_answer *out;
    const struct changes *changes; /* BY_RECENT: the list of the reading to count from, */
    uint32_t since;                /* ... its index there, */
    struct sum *sums;              /* ... and what each slot has used since, as far as noted */
    struct labels *labels;         /* of the groups */
    uint32_t groups;               /* the first that has processes */
    uint32_t count;
    struct ranked {
        int64_t ns;
        uint32_t number; /* a slot or a label */
    } ranked[TOP_LIMIT];
};

static int64_t distance_ns(const struct kept_reading *kept, int64_t moment_ns) {
    return llabs(kept->taken_mono_ns - moment_ns);
}

/* Finds the kept reading, before the newest, that is nearest to the moment. */
static void find_since(struct answer *answer, const struct changes *changes, int64_t moment_ns) {
    for (uint32_t i = 0; i < changes->count; i++) {
        const struct kept_reading *kept = &changes->kept[i];
        if (kept->taken_mono_ns >= answer->out->scan.taken_mono_ns)
            break;
        if (answer->changes != NULL &&
            distance_ns(kept, moment_ns) >=
                distance_ns(&answer->changes->kept[answer->since], moment_ns))
            continue;
        answer->changes = changes;
        answer->since = i;
    }
}

/* Sets the time covered and what the machine did in it: the rest, until rows are subtracted.
 * Returns false if there is nothing to compare with. */
static bool begin(struct answer *answer) {
    const struct history *history = answer->history;
    const struct scan *newest = &history->newest;
    struct history_answer *out = answer->out;
    out->scan = *newest;
    out->elapsed_ns = newest->taken_at_ns - newest->boot_at_ns;
    out->rest.user_ns = newest->user_ns;
    out->rest.system_ns = newest->system_ns;
    if (answer->ask->by == BY_TOTAL)
        return true;
    int64_t moment_ns = newest->taken_mono_ns - answer->ask->window_ns;
    find_since(answer, &history->seconds, moment_ns);
    find_since(answer, &history->tens, moment_ns);
    if (answer->changes == NULL)
        return false;
    const struct kept_reading *since = &answer->changes->kept[answer->since];
    out->elapsed_ns = newest->taken_mono_ns - since->taken_mono_ns;
    out->rest.user_ns -= since->user_ns;
    out->rest.system_ns -= since->system_ns;
    return true;
}

/* What is noted. Returns false if memory ran out. */
static bool sum_changes(struct answer *answer) {
    const struct history *history = answer->history;
    answer->sums = calloc(history->table.slots + 1, sizeof *answer->sums);
    if (answer->sums == NULL)
        return false;
    struct summing summing = {history, answer->sums};
    changes_each(answer->changes, answer->since, history_add_up, &summing);
    if (answer->changes == &history->tens)
        history_each_since_tens(history, history_add_up, &summing);
    return true;
}

static int64_t not_noted_ns(int64_t used_ns, uint32_t noted_us) {
    return (int64_t)(history_low_us(used_ns) - noted_us) * NS_PER_US;
}

static struct sum used(const struct answer *answer, uint32_t slot) {
    const struct member *member = &answer->history->table.members[slot];
    if (answer->changes == NULL)
        return (struct sum){member->user_ns, member->system_ns};
    struct sum sum = answer->sums[slot];
    sum.user_ns += not_noted_ns(member->user_ns, member->noted_user_us);
    sum.system_ns += not_noted_ns(member->system_ns, member->noted_system_us);
    return sum;
}

/* Whether a group comes before another of equal time. Processes are offered by ascending pid. */
static bool comes_before(const struct answer *answer, uint32_t a, uint32_t b) {
    if (answer->labels == NULL)
        return false;
    const struct label *x = label_at(answer->labels, a), *y = label_at(answer->labels, b);
    size_t common = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->text, y->text, common);
    return order != 0 ? order < 0 : x->length < y->length;
}

static void offer(struct answer *answer, uint32_t number, int64_t ns) {
    uint32_t at = answer->count;
    while (at > 0 && (answer->ranked[at - 1].ns < ns ||
                      (answer->ranked[at - 1].ns == ns &&
                       comes_before(answer, number, answer->ranked[at - 1].number))))
        at--;
    if (at == answer->ask->rows)
        return;
    if (answer->count < answer->ask->rows)
        answer->count++;
    memmove(answer->ranked + at + 1, answer->ranked + at,
            (answer->count - 1 - at) * sizeof answer->ranked[0]);
    answer->ranked[at] = (struct ranked){ns, number};
}

static void rank_processes(struct answer *answer) {
    const struct table *table = &answer->history->table;
    for (uint32_t i = 0; i < table->count; i++) {
        uint32_t slot = table->order[i];
        struct sum sum = used(answer, slot);
        if (table->members[slot].gone_ms == 0)
            offer(answer, slot, sum.user_ns + sum.system_ns);
    }
}

/* Adds a process, or a group of processes, to a group. */
static void add_to_group(struct answer *answer, uint32_t number, struct sum sum, uint32_t processes,
                         int64_t started_ns) {
    struct label *label = label_at(answer->labels, number);
    if (label->processes == 0) {
        label->user_ns = label->system_ns = 0;
        label->started_ns = started_ns;
        label->next_summed = answer->groups;
        answer->groups = number;
    }
    label->processes += processes;
    label->user_ns += sum.user_ns;
    label->system_ns += sum.system_ns;
    if (started_ns < label->started_ns)
        label->started_ns = started_ns;
}

static void sum_groups(struct answer *answer) {
    struct history *history = answer->history;
    bool is_by_name = answer->ask->group == GROUP_NAME;
    answer->labels = is_by_name ? &history->names : &history->cgroups;
    for (uint32_t i = 0; i < history->table.count; i++) {
        uint32_t slot = history->table.order[i];
        const struct member *member = &history->table.members[slot];
        uint32_t number =
            is_by_name ? history_group_of(history, member->name) : history->lookups[slot].cgroup;
        if (member->gone_ms == 0 && number != 0)
            add_to_group(answer, number, used(answer, slot), 1, member->started_ns);
    }
}

/* Combines groups of control groups to groups of units. */
static void fold_units(struct answer *answer) {
    struct labels *cgroups = answer->labels, *units = &answer->history->units;
    uint32_t number = answer->groups;
    answer->labels = units;
    answer->groups = 0;
    while (number != 0) {
        struct label *cgroup = label_at(cgroups, number);
        struct sum sum = {cgroup->user_ns, cgroup->system_ns};
        char name[CGROUP_UNIT_LIMIT];
        size_t length = cgroup_unit(cgroup->text, cgroup->length, name);
        uint32_t unit = length > 0 ? labels_use(units, name, length)
                                   : labels_use(units, cgroup->text, cgroup->length);
        if (unit != 0) {
            bool is_first = label_at(units, unit)->processes == 0;
            add_to_group(answer, unit, sum, cgroup->processes, cgroup->started_ns);
            if (!is_first) /* the answer uses each once, until clear_groups */
                labels_leave(units, unit);
        }
        cgroup->processes = 0;
        number = cgroup->next_summed;
    }
}

static void rank_groups(struct answer *answer) {
    for (uint32_t number = answer->groups; number != 0;) {
        const struct label *label = label_at(answer->labels, number);
        offer(answer, number, label->user_ns + label->system_ns);
        number = label->next_summed;
    }
}

static void clear_groups(struct answer *answer) {
    for (uint32_t number = answer->groups; number != 0;) {
        struct label *label = label_at(answer->labels, number);
        uint32_t next = label->next_summed;
        label->processes = 0;
        if (answer->labels == &answer->history->units)
            labels_leave(answer->labels, number);
        number = next;
    }
}

static void name_row(struct history_row *row, const struct label *label) {
    row->name_length = label->length;
    memcpy(row->name, label->text, label->length);
}

static struct history_row row_of(const struct answer *answer, uint32_t number) {
    const struct history *history = answer->history;
    if (answer->labels != NULL) {
        const struct label *label = label_at(answer->labels, number);
        struct history_row row = {.processes = label->processes,
                                  .user_ns = label->user_ns,
                                  .system_ns = label->system_ns,
                                  .started_ns = label->started_ns};
        name_row(&row, label);
        return row;
    }
    const struct member *member = &history->table.members[number];
    struct sum sum = used(answer, number);
    struct history_row row = {.pid = member->pid,
                              .processes = 1,
                              .user_ns = sum.user_ns,
                              .system_ns = sum.system_ns,
                              .started_ns = member->started_ns};
    if (member->name != 0)
        name_row(&row, label_at(&history->names, member->name));
    return row;
}

/* The kernel samples the machine's user and system time by ticks: in one of them rows may exceed
 * the machine. The sum decides. */
static void write_rows(struct answer *answer) {
    struct history_answer *out = answer->out;
    struct history_row *rest = &out->rest;
    int64_t left_ns = rest->user_ns + rest->system_ns;
    rest->processes = answer->history->alive;
    for (out->count = 0; out->count < answer->count; out->count++) {
        struct history_row row = row_of(answer, answer->ranked[out->count].number);
        rest->user_ns -= row.user_ns;
        left_ns -= row.user_ns + row.system_ns;
        rest->processes -= row.processes;
        out->rows[out->count] = row;
    }
    left_ns = left_ns > 0 ? left_ns : 0;
    rest->user_ns = number_within(rest->user_ns, 0, left_ns);
    rest->system_ns = left_ns - rest->user_ns;
}

static void make(struct answer *answer) {
    enum grouping group = answer->ask->group;
    if (group == GROUP_NONE) {
        rank_processes(answer);
    } else {
        sum_groups(answer);
        if (group == GROUP_UNIT)
            fold_units(answer);
        rank_groups(answer);
    }
    write_rows(answer);
    clear_groups(answer);
}

/* With the lock held. */
static bool answer_locked(struct answer *answer) {
    struct history *history = answer->history;
    if (history_taken_mono_ns(history) == 0 || !begin(answer))
        return false;
    if (answer->changes != NULL && !sum_changes(answer))
        return false;
    make(answer);
    free(answer->sums);
    return true;
}

bool history_ask(struct history *history, const struct history_ask *ask,
                 struct history_answer *out) {
    struct answer answer = {.history = history, .ask = ask, .out = out};
    *out = (struct history_answer){.count = 0};
    if (ask->group >= GROUP_CGROUP)
        history_lock_with_cgroups(history);
    else
        history_lock(history);
    bool is_there = answer_locked(&answer);
    history_unlock(history);
    return is_there;
}

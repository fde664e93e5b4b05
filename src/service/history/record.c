/* Takes a reading. */
#include "base/clock.h"
#include "service/history/history.h"
#include "service/history/state.h"

#include <string.h>

/* /proc has starts in ticks, and the reading before took a while. */
static const int64_t start_grain_ns = INT64_C(20) * NS_PER_MS;

struct reading {
    struct history *history;
    struct snapshot *snapshot; /* NULL: not wanted */
    struct scan scan;
    int64_t now_ns;    /* CLOCK_MONOTONIC */
    int64_t before_ns; /* the reading before, since boot; 0: none */
    bool is_kept, is_kept_long;
};

static int64_t since_boot_ns(const struct scan *scan) {
    return scan->taken_at_ns - scan->boot_at_ns;
}

static bool is_due(const struct changes *changes, int64_t now_ns, int64_t step_ms) {
    return changes->count == 0 ||
           now_ns - changes->kept[changes->count - 1].taken_mono_ns >= step_ms * NS_PER_MS;
}

/* Whether everything it used was used after that moment. */
static bool is_born(int64_t started_ns, int64_t moment_ns) {
    return moment_ns != 0 && started_ns + start_grain_ns >= moment_ns;
}

static bool is_kernel_worker(const char *name, size_t length) {
    static const char prefix[] = "kworker/";
    return length >= sizeof prefix - 1 && memcmp(name, prefix, sizeof prefix - 1) == 0;
}

static uint32_t use_name(struct history *history, const struct process *process) {
    uint32_t number = labels_use(&history->names, process->name, process->name_length);
    if (number != 0 && is_kernel_worker(process->name, process->name_length))
        label_at(&history->names, number)->group = history->kernel_workers;
    return number;
}

/* Of what was used at the reading before, less than an hour is not noted: that reading was kept, or
 * followed a kept one within a second. */
static int64_t not_noted_us(uint32_t noted_us, int64_t before_ns, int64_t now_ns) {
    return (int64_t)(history_low_us(before_ns) - noted_us) + now_ns / NS_PER_US -
           before_ns / NS_PER_US;
}

/* Notes what was used and not noted, in whole microseconds. */
static void note(struct history *history, struct member *member, struct sum before) {
    int64_t user_us = not_noted_us(member->noted_user_us, before.user_ns, member->user_ns);
    int64_t system_us = not_noted_us(member->noted_system_us, before.system_ns, member->system_ns);
    uint32_t slot = table_slot(&history->table, member);
    if ((user_us == 0 && system_us == 0) ||
        !changes_add(&history->seconds, slot, user_us, system_us))
        return; /* later */
    member->noted_user_us = history_low_us(member->user_ns);
    member->noted_system_us = history_low_us(member->system_ns);
}

static void begin_member(const struct reading *reading, struct member *member,
                         const struct process *process) {
    struct history *history = reading->history;
    member->name = use_name(history, process);
    member->first = history->number & INT32_MAX;
    if (is_born(member->started_ns, reading->before_ns))
        return;
    member->user_ns = process->user_ns;
    member->system_ns = process->system_ns;
    member->noted_user_us = history_low_us(process->user_ns);
    member->noted_system_us = history_low_us(process->system_ns);
}

static void rename_member(struct history *history, struct member *member,
                          const struct process *process) {
    const struct label *label = member->name != 0 ? label_at(&history->names, member->name) : NULL;
    if (label != NULL && label->length == process->name_length &&
        memcmp(label->text, process->name, process->name_length) == 0)
        return;
    labels_leave(&history->names, member->name);
    member->name = use_name(history, process);
}

/* What it used since it was last seen counts for its present name. */
static void advance(struct history *history, struct member *member, const struct process *process,
                    int64_t now_ns) {
    int64_t user_ns = process->user_ns > member->user_ns ? process->user_ns - member->user_ns : 0;
    int64_t system_ns =
        process->system_ns > member->system_ns ? process->system_ns - member->system_ns : 0;
    metric_groups_add(&history->metric_groups, &history->names,
                      history_group_of(history, member->name), user_ns, system_ns, now_ns);
    member->user_ns += user_ns;
    member->system_ns += system_ns;
}

static void leave(void *context, struct member *member) {
    struct history *history = ((const struct reading *)context)->history;
    labels_leave(&history->names, member->name);
    member->has_ended = true;
    if (history->cgroups_asked_ns == 0)
        return;
    struct lookup *lookup = &history->lookups[table_slot(&history->table, member)];
    labels_leave(&history->cgroups, lookup->cgroup);
    lookup->cgroup = 0;
}

static void visit(void *context, const struct process *process) {
    struct reading *reading = context;
    struct history *history = reading->history;
    bool is_new;
    if (reading->snapshot != NULL)
        snapshot_offer(reading->snapshot, process);
    struct member *member =
        table_visit(&history->table, process, &is_new, reading->now_ns, leave, reading);
    if (member == NULL)
        return;
    if (is_new)
        begin_member(reading, member, process);
    else
        rename_member(history, member, process);
    const struct sum before = {member->user_ns, member->system_ns};
    advance(history, member, process, reading->now_ns);
    if (reading->is_kept)
        note(history, member, before);
}

/* The final times of a process that a reading saw, or that lived between two readings. Only one
 * of two sources may report them, so other readings may have come between; processes that those
 * saw are still in the table. */
static void visit_ended(void *context, const struct process *process) {
    struct reading *reading = context;
    struct history *history = reading->history;
    struct member *member = table_find(&history->table, process->pid, process->started_ns);
    if (member != NULL && !member->has_ended) {
        rename_member(history, member, process);
        advance(history, member, process, reading->now_ns);
        member->has_ended = true;
    } else if (is_born(process->started_ns, history->told_ns)) {
        uint32_t name = use_name(history, process);
        metric_groups_add(&history->metric_groups, &history->names, history_group_of(history, name),
                          process->user_ns, process->system_ns, reading->now_ns);
        labels_leave(&history->names, name);
    }
}

void history_add_up(void *summing, const struct change *change, uint32_t number) {
    const struct summing *to = summing;
    const struct member *member = &to->history->table.members[change->slot];
    /* Changes of a former process are older than the first reading of the present one. */
    if (member->has_ended || number < member->first)
        return;
    to->sums[change->slot].user_ns += change->user_us * (int64_t)NS_PER_US;
    to->sums[change->slot].system_ns += change->system_us * (int64_t)NS_PER_US;
}

void history_each_since_tens(const struct history *history, change_visit *each, void *context) {
    const struct changes *tens = &history->tens;
    uint32_t since = CHANGES_SINCE_EVER;
    if (tens->count > 0)
        since = changes_find(&history->seconds, tens->kept[tens->count - 1].number);
    changes_each(&history->seconds, since, each, context);
}

/* A slot's first change takes the whole sum. */
static void note_sum(void *context, const struct change *change, uint32_t number) {
    struct history *history = context;
    struct sum *sum = &history->sums[change->slot];
    (void)number;
    if (sum->user_ns + sum->system_ns > 0)
        changes_add(&history->tens, change->slot, sum->user_ns / NS_PER_US,
                    sum->system_ns / NS_PER_US);
    *sum = (struct sum){0};
}

/* Notes in `tens` what each process used since its newest reading. */
static void add_up_seconds(struct history *history) {
    struct summing summing = {history, history->sums};
    history_each_since_tens(history, history_add_up, &summing);
    history_each_since_tens(history, note_sum, history);
}

static void keep(const struct reading *reading) {
    struct history *history = reading->history;
    const struct kept_reading kept = {
        .taken_mono_ns = reading->scan.taken_mono_ns,
        .user_ns = reading->scan.user_ns,
        .system_ns = reading->scan.system_ns,
        .number = history->number,
    };
    if (reading->is_kept_long) {
        add_up_seconds(history);
        changes_keep(&history->tens, &kept);
    }
    if (reading->is_kept) {
        changes_keep(&history->seconds, &kept);
        history->number++;
    }
}

static void count_alive(struct history *history) {
    history->alive = 0;
    for (uint32_t i = 0; i < history->table.count; i++)
        history->alive += table_member(&history->table, i)->gone_ms == 0;
}

static struct reading begin(struct history *history, struct snapshot *snapshot) {
    struct reading reading = {
        .history = history,
        .snapshot = snapshot,
        .now_ns = clock_monotonic_ns(),
        .before_ns = history_taken_mono_ns(history) != 0 ? since_boot_ns(&history->newest) : 0,
    };
    reading.is_kept = is_due(&history->seconds, reading.now_ns, SHORT_STEP_MS);
    reading.is_kept_long = reading.is_kept && is_due(&history->tens, reading.now_ns, LONG_STEP_MS);
    return reading;
}

/* What an ended process used would count as rest until its end is reported, and could not be
 * taken back. So while a source reports ends, the rest waits for it. */
static bool is_settling(const struct history *history, int64_t now_ns) {
    return history->told_ns == 0 || history->told_ns == now_ns ||
           now_ns - history->told_ns > 2 * TABLE_LINGER_NS;
}

/* With the lock held. */
static int record(struct history *history, struct source *source, struct snapshot *snapshot) {
    struct reading reading = begin(history, snapshot);
    int64_t told_ns = clock_boot_ns();
    uint32_t lost = 0;
    if (source_ended(source, visit_ended, &reading, &lost))
        history->told_ns = told_ns;
    table_begin(&history->table);
    int error = source_scan(source, &reading.scan, visit, &reading);
    table_end(&history->table, error == 0, reading.now_ns, leave, &reading);
    count_alive(history);
    if (error != 0)
        return error;
    reading.scan.lost += lost;
    keep(&reading);
    history->newest = reading.scan;
    atomic_store(&history->taken_mono_ns, reading.scan.taken_mono_ns);
    if (is_settling(history, told_ns))
        metric_groups_settle(&history->metric_groups, &history->names, &reading.scan);
    if (snapshot != NULL)
        snapshot->scan = reading.scan;
    return 0;
}

int history_record(struct history *history, struct source *source, struct snapshot *snapshot) {
    history_lock(history);
    if (snapshot != NULL)
        snapshot_begin(snapshot);
    int error = record(history, source, snapshot);
    history_unlock(history);
    if (snapshot != NULL)
        snapshot_end(snapshot);
    return error;
}

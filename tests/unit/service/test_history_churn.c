/* The history against a simple model that forgets nothing, over random lives of processes; and how
 * much memory it takes. */
#include "unit.h"

#include "service/history/history.h"
#include "simulated.h"

#include <stdio.h>

enum { MODEL_READINGS = 400, MODEL_PIDS = 60, NAMES = 90 };

static uint64_t seed;

static uint32_t random_below(uint32_t limit) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % limit;
}

static bool one_in(uint32_t chances) {
    return random_below(chances) == 0;
}

/* What the model remembers of each reading: all of it. */
struct moment {
    int64_t taken_ns, user_ns, system_ns;
    struct process processes[MODEL_PIDS];
    uint32_t lives[MODEL_PIDS]; /* which process had the pid */
};

static struct moment moments[MODEL_READINGS];
static uint32_t moment_count;
static uint32_t lives[MODEL_PIDS], life_count;
static struct process last_seen[MODEL_PIDS];
static int64_t used_by_name_ns[NAMES]; /* since the start, by processes of all kinds */

static unsigned name_number(const struct process *process) {
    return (unsigned)(process->name[1] - '0') * 10 + (unsigned)(process->name[2] - '0');
}

static void random_name(char *name) {
    snprintf(name, 4, "n%02u", random_below(NAMES));
}

static void credit(const struct process *process, const struct process *before) {
    used_by_name_ns[name_number(process)] +=
        process->user_ns + process->system_ns - before->user_ns - before->system_ns;
}

static void give_birth(int32_t pid) {
    char name[4];
    random_name(name);
    sim_start(pid, name);
    lives[pid] = ++life_count;
    last_seen[pid] = (struct process){.pid = 0};
}

static void end_life(int32_t pid) {
    credit(&sim.processes[pid], &last_seen[pid]);
    sim_end(pid);
    lives[pid] = 0;
}

/* A pid that is reused within a tick is recognised by its smaller time. */
static void live(int32_t pid, uint32_t activity) {
    char name[4];
    if (sim.processes[pid].pid == 0) {
        if (one_in(6))
            give_birth(pid);
        return;
    }
    if (one_in(activity))
        sim_use(pid, random_below(400000), random_below(100000));
    if (one_in(40)) {
        random_name(name);
        /* Time under the old name counts for that name if a reading came between. */
        sim_name(&sim.processes[pid], name);
    }
    if (one_in(25)) {
        bool had_time = last_seen[pid].user_ns + last_seen[pid].system_ns > 0;
        end_life(pid);
        if (one_in(3) && had_time)
            give_birth(pid);
    }
}

/* Returns whether it was at least as long as a recorder's pause. */
static bool pass_some_time(void) {
    static const int64_t steps_ms[] = {1000, 1000, 1003, 997, 250, 250, 100, 4000, 13000};
    int64_t step_ns = steps_ms[random_below(9)] * NS_PER_MS;
    uint32_t activity = 1 + random_below(5);
    for (unsigned part = 0; part < 3; part++) {
        sim.now_ns += step_ns / 3;
        for (int32_t pid = 1; pid < MODEL_PIDS; pid++)
            live(pid, activity);
    }
    return step_ns >= 900 * NS_PER_MS;
}

static void remember(void) {
    struct moment *moment = &moments[moment_count++];
    moment->taken_ns = sim.now_ns;
    moment->user_ns = sim.user_ns;
    moment->system_ns = sim.system_ns;
    for (int32_t pid = 1; pid < MODEL_PIDS; pid++) {
        if (sim.processes[pid].pid != 0) {
            credit(&sim.processes[pid], &last_seen[pid]);
            last_seen[pid] = sim.processes[pid];
        }
        moment->processes[pid] = sim.processes[pid];
        moment->lives[pid] = lives[pid];
    }
}

/* The moment from which an answer with this elapsed time counts. */
static const struct moment *since(int64_t elapsed_ns) {
    for (uint32_t i = 0; i + 1 < moment_count; i++)
        if (moments[i].taken_ns == sim.now_ns - elapsed_ns)
            return &moments[i];
    fail_msg("no reading was taken %lld ns ago", (long long)elapsed_ns);
    return NULL;
}

static struct process expected(const struct moment *from, int32_t pid) {
    struct process process = sim.processes[pid];
    if (from->lives[pid] == lives[pid] && from->processes[pid].pid != 0) {
        process.user_ns -= from->processes[pid].user_ns;
        process.system_ns -= from->processes[pid].system_ns;
    }
    return process;
}

static int64_t total_of(const struct process *process) {
    return process->user_ns + process->system_ns;
}

/* The `rank`th of the processes, computed naively. */
static int32_t ranked(const struct process *all, unsigned rank) {
    for (int32_t pid = 1; pid < MODEL_PIDS; pid++) {
        unsigned before = 0;
        if (all[pid].pid == 0)
            continue;
        for (int32_t other = 1; other < MODEL_PIDS; other++)
            before += all[other].pid != 0 &&
                      (total_of(&all[other]) > total_of(&all[pid]) ||
                       (total_of(&all[other]) == total_of(&all[pid]) && other < pid));
        if (before == rank)
            return pid;
    }
    return 0;
}

static void check_processes(const struct history_answer *answer, const struct moment *from,
                            unsigned rows) {
    struct process all[MODEL_PIDS] = {{0}};
    int64_t user_ns = sim.user_ns - from->user_ns, system_ns = sim.system_ns - from->system_ns;
    unsigned alive = 0;
    for (int32_t pid = 1; pid < MODEL_PIDS; pid++) {
        all[pid] = expected(from, pid);
        alive += all[pid].pid != 0;
    }
    assert_int_equal(answer->count, alive < rows ? alive : rows);
    for (unsigned rank = 0; rank < answer->count; rank++) {
        const struct history_row *row = &answer->rows[rank];
        const struct process *process = &all[ranked(all, rank)];
        assert_int_equal(row->pid, process->pid);
        assert_int_equal(row->user_ns, process->user_ns);
        assert_int_equal(row->system_ns, process->system_ns);
        assert_int_equal(row->started_ns, process->started_ns);
        assert_memory_equal(row->name, process->name, 3);
        user_ns -= process->user_ns;
        system_ns -= process->system_ns;
    }
    assert_int_equal(answer->rest.user_ns, user_ns);
    assert_int_equal(answer->rest.system_ns, system_ns);
    assert_int_equal(answer->rest.processes, alive - answer->count);
}

static void check_names(const struct history_answer *answer, const struct moment *from) {
    struct process groups[NAMES] = {{0}};
    uint32_t counts[NAMES] = {0}, with_processes = 0;
    for (int32_t pid = 1; pid < MODEL_PIDS; pid++) {
        const struct process process = expected(from, pid);
        if (process.pid == 0)
            continue;
        unsigned number = name_number(&process);
        with_processes += counts[number]++ == 0;
        groups[number].user_ns += process.user_ns;
        groups[number].system_ns += process.system_ns;
    }
    assert_int_equal(answer->count, with_processes < 64 ? with_processes : 64);
    int64_t before_ns = INT64_MAX;
    for (unsigned rank = 0; rank < answer->count; rank++) {
        const struct history_row *row = &answer->rows[rank];
        unsigned number = (unsigned)(row->name[1] - '0') * 10 + (unsigned)(row->name[2] - '0');
        assert_int_equal(row->processes, counts[number]);
        assert_int_equal(row->user_ns, groups[number].user_ns);
        assert_int_equal(row->system_ns, groups[number].system_ns);
        assert_true(row->user_ns + row->system_ns <= before_ns);
        before_ns = row->user_ns + row->system_ns;
    }
}

static void check_answers(struct history *history) {
    static const struct moment boot;
    struct history_answer answer;
    struct history_ask total = {BY_TOTAL, GROUP_NONE, 0, 1 + random_below(TOP_LIMIT)};
    assert_true(history_ask(history, &total, &answer));
    check_processes(&answer, &boot, total.rows);
    if (moment_count < 2)
        return;
    const struct history_ask recent = {BY_RECENT, GROUP_NONE,
                                       (1 + random_below(60)) * (int64_t)NS_PER_S,
                                       1 + random_below(TOP_LIMIT)};
    assert_true(history_ask(history, &recent, &answer));
    check_processes(&answer, since(answer.elapsed_ns), recent.rows);
    const struct history_ask by_name = {BY_RECENT, GROUP_NAME, recent.window_ns, TOP_LIMIT};
    assert_true(history_ask(history, &by_name, &answer));
    check_names(&answer, since(answer.elapsed_ns));
}

/* The counters of /metrics at the reading before. */
struct counters {
    struct history_group groups[METRIC_GROUPS], rest;
    unsigned count;
    int64_t used_by_name_ns[NAMES];
};

static const struct history_group *find(const struct counters *counters,
                                        const struct history_group *group) {
    for (unsigned i = 0; i < counters->count; i++)
        if (memcmp(counters->groups[i].name, group->name, 3) == 0)
            return &counters->groups[i];
    return NULL;
}

/* knows_ended: then a name's counter grows exactly by what its processes used. */
static void check_counters(struct history *history, struct counters *before, bool knows_ended,
                           bool is_settled) {
    static struct counters now;
    int64_t sum_ns = 0;
    now.count = history_groups(history, now.groups, &now.rest);
    assert_true(now.count <= METRIC_GROUPS);
    assert_true(now.count >= before->count); /* nothing is idle for an hour here */
    memcpy(now.used_by_name_ns, used_by_name_ns, sizeof used_by_name_ns);
    for (unsigned i = 0; i < now.count; i++) {
        const struct history_group *group = &now.groups[i], *old = find(before, group);
        unsigned number = (unsigned)(group->name[1] - '0') * 10 + (unsigned)(group->name[2] - '0');
        sum_ns += group->user_ns + group->system_ns;
        const struct history_group none = {0};
        if (old == NULL) /* a new one counts what its name used since then */
            old = &none;
        assert_true(group->user_ns >= old->user_ns && group->system_ns >= old->system_ns);
        if (knows_ended)
            assert_int_equal(group->user_ns + group->system_ns - old->user_ns - old->system_ns,
                             used_by_name_ns[number] - before->used_by_name_ns[number]);
    }
    assert_true(now.rest.user_ns >= before->rest.user_ns);
    assert_true(now.rest.system_ns >= before->rest.system_ns);
    int64_t busy_ns = sim.user_ns + sim.system_ns - moments[0].user_ns - moments[0].system_ns;
    sum_ns += now.rest.user_ns + now.rest.system_ns;
    assert_true(is_settled ? sum_ns == busy_ns : sum_ns <= busy_ns);
    *before = now;
}

static void live_and_compare(uint64_t with_seed, bool knows_ended) {
    static struct counters counters, told; /* at the last reading, and the last that knew ends */
    struct history *history;
    seed = with_seed;
    sim_begin();
    memset(&counters, 0, sizeof counters);
    memset(&told, 0, sizeof told);
    memset(used_by_name_ns, 0, sizeof used_by_name_ns);
    memset(lives, 0, sizeof lives);
    memset(last_seen, 0, sizeof last_seen);
    moment_count = life_count = 0;
    assert_int_equal(history_open(&history), 0);
    for (unsigned i = 0; i < MODEL_READINGS; i++) {
        bool is_told = (pass_some_time() || i == 0) && knows_ended;
        assert_int_equal(history_record(history, is_told ? sim_knowing() : NULL, NULL), 0);
        remember();
        check_answers(history);
        check_counters(history, &counters, false, is_told || !knows_ended);
        if (is_told)
            check_counters(history, &told, true, true);
    }
    assert_true(counters.count > 40);
    history_close(history);
}

TEST(it_says_what_a_history_that_forgets_nothing_says) {
    for (uint64_t i = 1; i <= 20; i++)
        live_and_compare(i, i % 2 == 0);
}

/* Page by page: the kernel's running count is only approximate. */
static long resident_bytes(void) {
    long kilobytes = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*[^\n] Rss: %ld", &kilobytes), 1);
    fclose(file);
    return kilobytes * 1024;
}

/* 2,000 processes at a time, each with its own name, for a second each: only the memory that those
 * need remains. */
TEST(a_million_processes_leave_memory_as_it_was) {
    enum { ALIVE = 2000, READINGS = 520, SETTLED = 80, PIDS_READINGS = 19 };
    struct history *history;
    long settled = 0;
    memset(&sim, 1, sizeof sim); /* touched */
    sim_begin();
    assert_int_equal(history_open(&history), 0);
    for (uint32_t reading = 0; reading < READINGS; reading++) {
        for (uint32_t i = 0; i < ALIVE; i++) {
            int32_t pid = (int32_t)((reading * ALIVE + i) % (PIDS_READINGS * ALIVE)) + 1;
            int32_t past =
                (int32_t)(((reading + PIDS_READINGS - 1) * ALIVE + i) % (PIDS_READINGS * ALIVE)) +
                1;
            char name[16];
            if (sim.processes[past].pid != 0)
                sim_end(past);
            snprintf(name, sizeof name, "%x", reading * ALIVE + i);
            sim_start(pid, name);
            sim_use(pid, 100, 50);
        }
        sim.now_ns += NS_PER_S;
        assert_int_equal(history_record(history, sim_knowing(), NULL), 0);
        if (reading == SETTLED)
            settled = resident_bytes();
    }
    /* The thread sanitizer notes who touched each word: four bytes of its own for one. */
    if (!is_left_out(THREAD_SANITIZER, "resident memory"))
        assert_true(resident_bytes() - settled < 64 * 1024);
    /* Nothing has run out either. */
    struct history_answer answer;
    const struct history_ask asked = {BY_RECENT, GROUP_NAME, WINDOW_LEAST_NS, TOP_LIMIT};
    assert_true(history_ask(history, &asked, &answer));
    assert_int_equal(answer.count, TOP_LIMIT);
    assert_int_equal(answer.rest.processes, ALIVE - TOP_LIMIT);
    assert_int_equal(answer.rows[0].user_ns, 100 * NS_PER_US);
    history_close(history);
}

static long bytes_of(uint32_t processes, uint32_t active) {
    struct history *history;
    char name[16];
    memset(&sim, 1, sizeof sim);
    sim_begin();
    long before = resident_bytes();
    assert_int_equal(history_open(&history), 0);
    for (uint32_t i = 1; i <= processes; i++) {
        snprintf(name, sizeof name, "name %u", i % 300);
        sim_start((int32_t)i, name);
    }
    for (unsigned second = 0; second < 90; second++) {
        for (uint32_t i = 1; i <= active; i++)
            sim_use((int32_t)i, 1000, 1000);
        sim.now_ns += NS_PER_S;
        assert_int_equal(history_record(history, NULL, NULL), 0);
    }
    struct history_answer answer;
    const struct history_ask asked = {BY_RECENT, GROUP_NONE, WINDOW_DEFAULT_NS, 5};
    assert_true(history_ask(history, &asked, &answer));
    long used = resident_bytes() - before;
    history_close(history);
    return used;
}

TEST(a_process_takes_little) {
    if (is_left_out(THREAD_SANITIZER, "resident memory, which is mostly its own notes"))
        skip();
    long idle = bytes_of(10000, 100), busy = bytes_of(10000, 2000);
    print_message("10,000 processes: %ld KiB with 100 at work, %ld KiB with 2,000\n", idle / 1024,
                  busy / 1024);
    assert_true(idle < 10000 * 150L);
    assert_true(busy < 10000 * 220L);
}

#include "unit.h"

#include "history/history.h"
#include "history/state.h"
#include "simulated.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct history *history;
static struct history_group groups[METRIC_GROUPS], rest;

static int open_one(void **state) {
    (void)state;
    sim_begin();
    return history_open(&history);
}

static int close_it(void **state) {
    (void)state;
    history_close(history);
    return 0;
}

#undef TEST_SETUP
#undef TEST_TEARDOWN
#define TEST_SETUP open_one
#define TEST_TEARDOWN close_it

static void record(void) {
    assert_int_equal(history_record(history, NULL, NULL), 0);
}

static void pass_ms(int64_t ms) {
    sim.now_ns += ms * NS_PER_MS;
}

static struct history_answer ask(enum by by, enum grouping group, int64_t window_s, unsigned rows) {
    struct history_answer answer;
    const struct history_ask asked = {by, group, window_s * NS_PER_S, rows};
    assert_true(history_ask(history, &asked, &answer));
    return answer;
}

static void assert_row(const struct history_row *row, int32_t pid, const char *name,
                       int64_t user_ms, int64_t system_ms) {
    assert_int_equal(row->pid, pid);
    assert_int_equal(row->name_length, strlen(name));
    assert_memory_equal(row->name, name, row->name_length);
    assert_int_equal(row->user_ns, user_ms * NS_PER_MS);
    assert_int_equal(row->system_ns, system_ms * NS_PER_MS);
}

TEST(without_readings_there_is_no_answer) {
    struct history_answer answer;
    const struct history_ask total = {BY_TOTAL, GROUP_NONE, 0, 5};
    const struct history_ask recent = {BY_RECENT, GROUP_NONE, WINDOW_DEFAULT_NS, 5};
    assert_false(history_ask(history, &total, &answer));
    assert_int_equal(history_groups(history, groups, &rest), 0);
    assert_int_equal(rest.user_ns + rest.system_ns, 0);
    assert_int_equal(history_taken_mono_ns(history), 0);
    record();
    assert_true(history_ask(history, &total, &answer));
    assert_false(history_ask(history, &recent, &answer));
    assert_int_equal(history_taken_mono_ns(history), sim.now_ns);
    pass_ms(5);
    record();
    assert_true(history_ask(history, &recent, &answer));
    assert_int_equal(answer.elapsed_ns, 5 * NS_PER_MS);
}

TEST(recently_is_what_was_used_since_the_reading_nearest_to_then) {
    sim_start(7, "old");
    sim_use(7, 900000000, 0);
    sim_start(9, "steady");
    for (int second = 0; second <= 70; second++) {
        record();
        pass_ms(1000);
        sim_use(7, second < 60 ? 1000 : 0, 0);
        sim_use(9, 2000, 1000);
    }
    record();
    struct history_answer answer = ask(BY_RECENT, GROUP_NONE, 10, 5);
    assert_int_equal(answer.elapsed_ns, 10 * (int64_t)NS_PER_S);
    assert_int_equal(answer.count, 2);
    assert_row(&answer.rows[0], 9, "steady", 20, 10);
    assert_row(&answer.rows[1], 7, "old", 0, 0);
    answer = ask(BY_RECENT, GROUP_NONE, 1, 1);
    assert_int_equal(answer.elapsed_ns, NS_PER_S);
    assert_row(&answer.rows[0], 9, "steady", 2, 1);
    answer = ask(BY_RECENT, GROUP_NONE, 60, 1);
    assert_true(answer.elapsed_ns >= 55 * (int64_t)NS_PER_S &&
                answer.elapsed_ns <= 65 * (int64_t)NS_PER_S);
    assert_row(&answer.rows[0], 9, "steady", 2 * answer.elapsed_ns / NS_PER_S,
               answer.elapsed_ns / NS_PER_S);
    answer = ask(BY_TOTAL, GROUP_NONE, 0, 1);
    assert_row(&answer.rows[0], 7, "old", 900060, 0);
}

/* 2^32 microseconds are 72 minutes. */
TEST(hours_of_cpu_count_between_two_readings) {
    sim_start(7, "busy");
    sim_use(7, INT64_C(4294000000), 4294967295);
    record();
    for (int hour = 0; hour < 2; hour++) {
        pass_ms(500);
        sim_use(7, 1000000, 2000000);
        record(); /* not kept */
        pass_ms(3600 * 1000);
        sim_use(7, INT64_C(4) * 3600 * 1000000, INT64_C(4) * 4294967296);
        record();
        struct history_answer answer = ask(BY_RECENT, GROUP_NONE, 60, 1);
        assert_int_equal(answer.elapsed_ns, INT64_C(3600500) * NS_PER_MS);
        assert_int_equal(answer.rows[0].user_ns, INT64_C(14401) * NS_PER_S);
        assert_int_equal(answer.rows[0].system_ns,
                         INT64_C(4) * 4294967296 * NS_PER_US + INT64_C(2) * NS_PER_S);
    }
}

TEST(the_rest_is_what_the_machine_did_beyond_the_rows) {
    sim_start(3, "a");
    sim_start(4, "b");
    record();
    pass_ms(1000);
    sim_use(3, 50000, 10000);
    sim_use(4, 5000, 1000);
    sim_start(5, "brief"); /* it is never seen */
    sim_use(5, 300000, 200000);
    sim_end(5);
    record();
    struct history_answer answer = ask(BY_RECENT, GROUP_NONE, 1, 1);
    assert_row(&answer.rows[0], 3, "a", 50, 10);
    assert_row(&answer.rest, 0, "", 305, 201);
    assert_int_equal(answer.rest.processes, 1);
    /* The rows add up to more than the machine's time, in one mode and in both. */
    sim.user_ns -= 310 * NS_PER_MS;
    record();
    answer = ask(BY_RECENT, GROUP_NONE, 1, 1);
    assert_row(&answer.rest, 0, "", 0, 196);
    sim.system_ns -= 300 * NS_PER_MS;
    record();
    answer = ask(BY_RECENT, GROUP_NONE, 1, 2);
    assert_row(&answer.rest, 0, "", 0, 0);
    assert_int_equal(answer.rest.processes, 0);
}

TEST(a_pid_used_again_is_another_process) {
    sim_start(3, "first");
    sim_use(3, 5000000, 0);
    record();
    pass_ms(1000);
    sim_use(3, 7000, 0);
    record();
    int64_t started_ns = sim.processes[3].started_ns;
    sim_end(3);
    pass_ms(1000);
    sim_start(3, "second");
    sim_use(3, 4000, 0);
    record();
    struct history_answer answer = ask(BY_RECENT, GROUP_NONE, 2, 5);
    assert_int_equal(answer.count, 1);
    assert_row(&answer.rows[0], 3, "second", 4, 0);
    assert_int_equal(answer.rest.user_ns, 7 * NS_PER_MS);
    /* Within one tick the start time is the same; only the time that ran backwards shows it. */
    sim_end(3);
    sim_start(3, "third")->started_ns = started_ns;
    pass_ms(1000);
    sim_use(3, 9000, 0);
    record();
    sim_end(3);
    sim_start(3, "fourth")->started_ns = started_ns;
    sim_use(3, 1000, 0);
    pass_ms(1000);
    record();
    answer = ask(BY_TOTAL, GROUP_NONE, 0, 5);
    assert_int_equal(answer.count, 1);
    assert_row(&answer.rows[0], 3, "fourth", 1, 0);
}

TEST(groups_are_summed_by_name_and_kernel_workers_are_one) {
    sim_start(3, "kworker/0:1-events");
    sim_start(4, "b");
    sim_start(5, "b");
    sim_start(6, "kworker/u8:3");
    sim_start(8, "a");
    record();
    pass_ms(1000);
    for (int32_t pid = 3; pid <= 6; pid++)
        sim_use(pid, 1000, pid * 1000);
    sim_use(8, 11000, 0);
    record();
    struct history_answer answer = ask(BY_RECENT, GROUP_NAME, 1, 5);
    assert_int_equal(answer.count, 3); /* by name where the time is the same */
    assert_row(&answer.rows[0], 0, "a", 11, 0);
    assert_row(&answer.rows[1], 0, "b", 2, 9);
    assert_row(&answer.rows[2], 0, "kworker", 2, 9);
    assert_int_equal(answer.rows[1].processes, 2);
    assert_int_equal(answer.rest.processes, 0);
    answer = ask(BY_TOTAL, GROUP_NAME, 0, 1);
    assert_int_equal(answer.rest.processes, 4);
    assert_row(&answer.rest, 0, "", 4, 18);
}

/* One that no process of the real machine has now: it may have more than the simulated one. */
static int32_t unused_pid(int32_t below) {
    do
        below--;
    while (kill(below, 0) == 0 || errno == EPERM);
    return below;
}

/* The first process is in a control group of the real machine; the simulated ones are in none. */
TEST(control_groups_are_looked_for_when_somebody_asks) {
    const int32_t nobody = unused_pid(SIM_PROCESSES), successor = unused_pid(nobody);
    sim_start(nobody, "nobody");
    struct process *self = &sim.processes[1];
    *self = (struct process){.pid = 1, .started_ns = 0}; /* there is one everywhere */
    sim_name(self, "init");
    record();
    struct history_answer answer = ask(BY_TOTAL, GROUP_CGROUP, 0, 5);
    uint32_t processes = 0;
    for (uint32_t i = 0; i < answer.count; i++) {
        assert_true(answer.rows[i].name[0] == '/' || answer.rows[i].name[0] == '?');
        processes += answer.rows[i].processes;
    }
    assert_int_equal(processes, 2);
    answer = ask(BY_TOTAL, GROUP_UNIT, 0, 5);
    assert_int_equal(answer.rows[0].processes + answer.rows[1].processes, 2);
    sim_end(1);
    for (int second = 0; second < 3; second++) {
        pass_ms(1000);
        record();
    }
    sim_start(successor, "successor"); /* in the same slot */
    record();
    answer = ask(BY_TOTAL, GROUP_CGROUP, 0, 5);
    assert_int_equal(answer.count, 1);
    assert_int_equal(answer.rows[0].name[0], '?');
    assert_int_equal(answer.rows[0].processes, 2);
}

/* As /proc would: its control group in a folder of its own. */
static void place(int proc, const char *pid, const char *cgroup) {
    assert_int_equal(mkdirat(proc, pid, 0700), 0);
    int folder = openat(proc, pid, O_RDONLY | O_DIRECTORY);
    int file = openat(folder, "cgroup", O_WRONLY | O_CREAT, 0600);
    dprintf(file, "0::%s\n", cgroup);
    close(file);
    close(folder);
}

static void displace(int proc, const char *pid) {
    int folder = openat(proc, pid, O_RDONLY | O_DIRECTORY);
    assert_int_equal(unlinkat(folder, "cgroup", 0), 0);
    close(folder);
    assert_int_equal(unlinkat(proc, pid, AT_REMOVEDIR), 0);
}

/* The group of a process that starts now, and whose file is there during the next reading only. */
static struct history_row group_of_short_file(int32_t pid, const char *name) {
    sim_start(pid, name);
    place(history->proc, name, "/here");
    pass_ms(1000);
    record();
    history_look_ahead(history);
    displace(history->proc, name);
    struct history_answer answer = ask(BY_TOTAL, GROUP_CGROUP, 0, 1);
    assert_int_equal(answer.rows[0].processes, 1);
    sim_end(pid);
    pass_ms(2000);
    record();
    return answer.rows[0];
}

static char proc_path[sizeof "/tmp/test_history.XXXXXX"];

static void begin_proc(void) {
    snprintf(proc_path, sizeof proc_path, "/tmp/test_history.XXXXXX");
    assert_non_null(mkdtemp(proc_path));
    close(history->proc);
    history->proc = open(proc_path, O_RDONLY | O_DIRECTORY);
}

TEST(the_recorder_looks_for_control_groups_while_somebody_asks_now_and_then) {
    begin_proc();
    struct history_row row = group_of_short_file(7, "7");
    assert_row(&row, 0, "?", 0, 0);
    pass_ms(50 * 1000);
    row = group_of_short_file(8, "8");
    assert_row(&row, 0, "/here", 0, 0);
    pass_ms(60 * 1000);
    row = group_of_short_file(9, "9");
    assert_row(&row, 0, "?", 0, 0);
    assert_int_equal(rmdir(proc_path), 0);
}

/* A process whose file keeps its reader waiting: a pipe. */
static void place_slow(const char *pid) {
    place(history->proc, pid, "");
    int folder = openat(history->proc, pid, O_RDONLY | O_DIRECTORY);
    assert_int_equal(unlinkat(folder, "cgroup", 0), 0);
    assert_int_equal(mkfifoat(folder, "cgroup", 0600), 0);
    close(folder);
}

/* Waits until somebody reads that file. Returns its other end. */
static int wait_for_reader(const char *pid) {
    char path[32];
    int fd;
    snprintf(path, sizeof path, "%s/cgroup", pid);
    while ((fd = openat(history->proc, path, O_WRONLY | O_NONBLOCK)) < 0) {
        assert_int_equal(errno, ENXIO);
        usleep(1000);
    }
    return fd;
}

static void tell(int reader, const char *cgroup) {
    dprintf(reader, "0::%s\n", cgroup);
    close(reader);
}

static void *ask_for_groups(void *answer) {
    *(struct history_answer *)answer = ask(BY_TOTAL, GROUP_CGROUP, 0, 5);
    return NULL;
}

/* Of one process each, and nobody else is left. */
static void assert_groups(const struct history_answer *answer, const char *const names[],
                          uint32_t count) {
    assert_int_equal(answer->count, count);
    for (uint32_t i = 0; i < count; i++)
        assert_row(&answer->rows[i], 0, names[i], 0, 0);
    assert_int_equal(answer->rest.processes, 0);
}

/* Nothing is held that readings or other answers need; whoever comes meanwhile is in the answer. */
TEST(looking_for_control_groups_holds_up_nobody_else) {
    struct history_answer answer, other;
    pthread_t asking, asking_too;
    begin_proc();
    place_slow("7");
    place(history->proc, "5", "/early");
    place(history->proc, "9", "/late");
    sim_start(7, "slow");
    sim_start(9, "nine");
    record();
    assert_int_equal(pthread_create(&asking, NULL, ask_for_groups, &answer), 0);
    int reader = wait_for_reader("7");
    assert_int_equal(pthread_mutex_trylock(&history->lock), 0); /* else what follows would wait */
    history_unlock(history);
    /* Another process with the pid; and one that the search has passed. */
    sim_end(7);
    pass_ms(2000);
    sim_start(7, "another");
    displace(history->proc, "7");
    place_slow("7");
    sim_start(5, "five");
    record();
    assert_int_equal(ask(BY_TOTAL, GROUP_NAME, 0, 5).count, 3);
    assert_int_equal(pthread_create(&asking_too, NULL, ask_for_groups, &other), 0);
    tell(reader, "/former");
    tell(wait_for_reader("7"), "/slow");
    assert_int_equal(pthread_join(asking, NULL), 0);
    assert_int_equal(pthread_join(asking_too, NULL), 0); /* it finds all known */
    assert_groups(&answer, (const char *[]){"/early", "/late", "/slow"}, 3);
    assert_groups(&other, (const char *[]){"/early", "/late", "/slow"}, 3);
    displace(history->proc, "5");
    displace(history->proc, "7");
    displace(history->proc, "9");
    assert_int_equal(rmdir(proc_path), 0);
}

/* Nothing is lost with it: it held no lock that guards anything. */
TEST(a_process_may_die_while_it_looks_for_control_groups) {
    begin_proc();
    place_slow("7");
    sim_start(7, "slow");
    record();
    pid_t child = fork();
    if (child == 0) {
        ask(BY_TOTAL, GROUP_CGROUP, 0, 5);
        _exit(1);
    }
    int reader = wait_for_reader("7");
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(reader);
    displace(history->proc, "7");
    place(history->proc, "7", "/slow");
    struct history_answer answer = ask(BY_TOTAL, GROUP_CGROUP, 0, 5);
    assert_groups(&answer, (const char *[]){"/slow"}, 1);
    displace(history->proc, "7");
    assert_int_equal(rmdir(proc_path), 0);
}

/* A process's time after the last reading that saw it, and a process that no reading saw. */
TEST(the_last_times_of_ended_processes_are_their_names) {
    sim_start(3, "a");
    sim_use(3, 1000, 1000);
    record();
    for (int reading = 0; reading < 2; reading++) {
        pass_ms(1000);
        sim_use(3, 20000, 0);
        assert_int_equal(history_record(history, sim_knowing(), NULL), 0);
    }
    pass_ms(500);
    sim_use(3, 5000, 3000);
    sim_end(3);
    record(); /* it no longer sees it, and no end is reported */
    sim_start(4, "a");
    sim_use(4, 100000, 0);
    sim_end(4);
    pass_ms(500);
    assert_int_equal(history_record(history, sim_knowing(), NULL), 0);
    assert_int_equal(history_groups(history, groups, &rest), 1);
    assert_int_equal(groups[0].user_ns, 125 * NS_PER_MS);
    assert_int_equal(groups[0].system_ns, 3 * NS_PER_MS);
    assert_int_equal(groups[0].processes, 0);
    assert_int_equal(rest.user_ns, 20 * NS_PER_MS); /* before the name had its own group */
    assert_int_equal(rest.system_ns, 0);
}

/* A name that was idle for an hour loses its group when it has no process, or when another name
 * needs it; its counter ends, and the rest does not jump. */
TEST(an_idle_group_loses_its_place_after_an_hour) {
    sim_start(3, "gone");
    sim_start(4, "idle");
    sim_use(4, 1000, 1000);
    record();
    for (int reading = 0; reading < 2; reading++) {
        pass_ms(1000);
        sim_use(3, 2000000, 0);
        sim_use(4, 2000000, 0);
        record();
    }
    assert_int_equal(history_groups(history, groups, &rest), 2);
    int64_t rest_ns = rest.user_ns;
    sim_end(3);
    pass_ms(3500 * 1000);
    record();
    record();
    assert_int_equal(history_groups(history, groups, &rest), 2);
    for (int hour = 0; hour < 3; hour++) {
        pass_ms(3600 * 1000);
        record();
    }
    assert_int_equal(history_groups(history, groups, &rest), 1);
    assert_memory_equal(groups[0].name, "idle", 4);
    assert_int_equal(groups[0].user_ns, 2000 * NS_PER_MS);
    assert_int_equal(rest.user_ns, rest_ns);
}

/* An incomplete reading does not count: processes not visited are not gone, and nothing is lost or
 * doubled. */
TEST(a_reading_that_fails_is_none) {
    for (int32_t pid = 1; pid <= 6; pid++)
        sim_start(pid, "x");
    record();
    int64_t taken_ns = history_taken_mono_ns(history);
    for (int failure = 0; failure < 3; failure++) {
        pass_ms(1000);
        for (int32_t pid = 1; pid <= 6; pid++)
            sim_use(pid, 1000 * pid, 0);
        sim.fails_after = 3;
        assert_int_equal(history_record(history, NULL, NULL), -EMFILE);
    }
    assert_int_equal(history_taken_mono_ns(history), taken_ns);
    pass_ms(1000);
    record();
    struct history_answer answer = ask(BY_RECENT, GROUP_NONE, 4, 6);
    assert_int_equal(answer.count, 6);
    for (int i = 0; i < 6; i++)
        assert_row(&answer.rows[i], 6 - i, "x", 3 * (6 - i), 0);
}

TEST(another_process_sees_it_and_may_die_with_it) {
    sim_start(3, "a");
    record();
    pass_ms(1000);
    sim_use(3, 50000, 0);
    record();
    pass_ms(1000);
    sim_use(3, 50000, 0);
    int status;
    pid_t child = fork();
    if (child == 0) {
        record();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(history_taken_mono_ns(history), sim.now_ns);
    assert_int_equal(history_groups(history, groups, &rest), 1);
    assert_int_equal(groups[0].user_ns, 50 * NS_PER_MS);
    child = fork();
    if (child == 0) {
        sim.dies_after = 0;
        record();
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(history_groups(history, groups, &rest), 1);
    assert_int_equal(groups[0].user_ns, 50 * NS_PER_MS);
    assert_int_equal(history_taken_mono_ns(history), 0);
    pass_ms(1000);
    record();
    pass_ms(1000);
    sim_use(3, 20000, 0);
    record();
    struct history_answer answer = ask(BY_RECENT, GROUP_NAME, 1, 5);
    assert_int_equal(answer.count, 1);
    assert_row(&answer.rows[0], 0, "a", 20, 0);
    assert_int_equal(history_groups(history, groups, &rest), 1);
    assert_int_equal(groups[0].user_ns, 70 * NS_PER_MS);
}

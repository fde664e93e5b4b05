#include "one_history.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

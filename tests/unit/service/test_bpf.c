/* Both ways of the source bpf against /proc, with real processes. Skipped if not permitted or not
 * built. */
#define UNIT_OWN_MAIN
#include "unit.h"

#include "base/clock.h"
#include "service/bpf/bpf.h"
#include "service/procfs/stat.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PID_ROOM = 1 << 16, TICK_NS = 10000000 };
static const int64_t PATIENCE_NS = INT64_C(20000000000); /* the machine may be busy */

static struct procfs procfs;
static struct bpf *ways[2]; /* by enum bpf_path - 1 */
static const char *why_not;

/* One scan by pid. */
struct seen {
    struct process processes[PID_ROOM];
    bool is_there[PID_ROOM];
    int32_t last;
    bool is_ordered;
};

static void see(void *context, const struct process *process) {
    struct seen *seen = context;
    seen->is_ordered = seen->is_ordered && process->pid > seen->last;
    seen->last = process->pid;
    if (process->pid < PID_ROOM) {
        seen->processes[process->pid] = *process;
        seen->is_there[process->pid] = true;
    }
}

static struct seen *scan(struct bpf *bpf) {
    static struct seen seen;
    struct scan said;
    memset(seen.is_there, 0, sizeof seen.is_there);
    seen.last = 0;
    seen.is_ordered = true;
    assert_int_equal(bpf_scan(bpf, &procfs, &said, see, &seen), 0);
    if (bpf != ways[1]) /* which may leave scans to procfs if there are many threads */
        assert_string_equal(said.source, "bpf");
    assert_true(seen.is_ordered);
    return &seen;
}

static int open_ways(void **state) {
    (void)state;
    assert_int_equal(procfs_open(&procfs, "/proc"), 0);
    for (int i = 0; i < 2; i++) {
        int error = bpf_open(&ways[i], i == 0 ? BPF_PATH_RUN : BPF_PATH_ITERATE, 0, &why_not);
        if (error == 0)
            assert_int_equal(bpf_complete(ways[i], &why_not), 0);
        else
            ways[i] = NULL;
    }
    return 0;
}

static int close_ways(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++)
        if (ways[i] != NULL)
            bpf_close(ways[i]);
    procfs_close(&procfs);
    return 0;
}

static struct bpf *way_of(void **state) {
    struct bpf *bpf = ways[*(const int *)*state];
    if (bpf == NULL) {
        print_message("skipped: %s\n", why_not);
        skip();
    }
    return bpf;
}

/* A child that does `work` and then sleeps; it is ready when this returns. */
static pid_t child_that(void (*work)(void)) {
    int ready[2];
    char byte = 1;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        work();
        if (write(ready[1], &byte, 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

static void end(pid_t child) {
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void nothing(void) {
}

static void *burn(void *duration_ms) {
    struct timespec used;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    while (used.tv_sec * 1000 + used.tv_nsec / NS_PER_MS < (intptr_t)duration_ms);
    return NULL;
}

static void burn_in_a_thread_that_ends(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, burn, (void *)150) == 0)
        pthread_join(thread, NULL);
}

static void *sleep_long(void *context) {
    pause();
    return context;
}

static void have_threads(int count) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 16384);
    for (int i = 1; i < count; i++)
        if (pthread_create(&thread, &attributes, sleep_long, NULL) != 0)
            _exit(1);
}

static int many_threads = 2000;

static void have_many_threads(void) {
    have_threads(many_threads);
    burn((void *)30);
}

static int64_t total(const struct process *process) {
    return process->user_ns + process->system_ns;
}

/* /proc before and after: values between are right. Both its times are truncated to ticks. */
static void assert_as_in_proc(struct bpf *bpf, pid_t pid) {
    struct process before, after;
    assert_int_equal(procfs_read(&procfs, pid, &before), 0);
    struct seen *seen = scan(bpf);
    assert_int_equal(procfs_read(&procfs, pid, &after), 0);
    assert_true(seen->is_there[pid]);
    const struct process *process = &seen->processes[pid];
    assert_true(total(process) >= total(&before));
    assert_true(total(process) <= total(&after) + 2 * TICK_NS);
    assert_int_equal(process->started_ns, before.started_ns);
    assert_int_equal(process->name_length, before.name_length);
    assert_memory_equal(process->name, before.name, before.name_length);
}

static void all_of_proc_and_no_other(void **state) {
    struct bpf *bpf = way_of(state);
    static struct seen before;
    struct scan said;
    struct process again;
    memset(&before, 0, sizeof before);
    assert_int_equal(procfs_scan(&procfs, &said, see, &before), 0);
    struct seen *now = scan(bpf);
    assert_false(now->is_there[0]);
    for (int32_t pid = 1; pid < PID_ROOM; pid++) {
        bool is_still = before.is_there[pid] && procfs_read(&procfs, pid, &again) == 0 &&
                        again.started_ns == before.processes[pid].started_ns;
        if (is_still && !now->is_there[pid])
            fail_msg("process %d is not there", pid);
        if (now->is_there[pid] && !before.is_there[pid] &&
            now->processes[pid].started_ns < said.taken_at_ns - said.boot_at_ns - NS_PER_S)
            fail_msg("process %d is one too many", pid);
    }
}

static void threads_that_ended_count(void **state) {
    struct bpf *bpf = way_of(state);
    pid_t child = child_that(burn_in_a_thread_that_ends);
    struct seen *seen = scan(bpf); /* before /proc: what that reports is kept */
    /* To the tick: where others have many threads just now, way 2 leaves the scan to procfs. */
    assert_in_range(total(&seen->processes[child]), 150 * NS_PER_MS - 2 * TICK_NS, 250 * NS_PER_MS);
    assert_as_in_proc(bpf, child);
    end(child);
}

static void many_threads_are_one_process(void **state) {
    struct bpf *bpf = way_of(state);
    pid_t child = child_that(have_many_threads);
    assert_as_in_proc(bpf, child);
    struct seen *seen = scan(bpf);
    assert_true(total(&seen->processes[child]) >= 30 * NS_PER_MS);
    /* The thread sanitizer takes milliseconds to start each of them. */
    if (!is_left_out(THREAD_SANITIZER, "that to start threads costs little"))
        assert_true(total(&seen->processes[child]) <= NS_PER_S);
    end(child);
}

static void burn_and_end(void) {
    burn((void *)40);
}

static void a_zombie_keeps_its_times(void **state) {
    struct bpf *bpf = way_of(state);
    pid_t child = child_that(burn_and_end);
    siginfo_t info;
    kill(child, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_as_in_proc(bpf, child);
    assert_true(total(&scan(bpf)->processes[child]) >= 40 * NS_PER_MS - 2 * TICK_NS);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(scan(bpf)->is_there[child]);
}

/* Adds processes one by one, across every position where the kernel's 32 KiB buffer may end. */
static void no_process_is_lost_where_a_buffer_ends(void **state) {
    enum {
        CHILDREN = 700
    }; /* with the existing processes at least two buffers; one holds 409 records */
    struct bpf *bpf = way_of(state);
    static pid_t children[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = child_that(nothing);
        const struct seen *seen = scan(bpf); /* which asserts that none comes twice */
        for (int k = i > 8 ? i - 8 : 0; k <= i; k++)
            assert_true(seen->is_there[children[k]]);
    }
    const struct seen *seen = scan(bpf);
    for (int i = 0; i < CHILDREN; i++)
        assert_true(seen->is_there[children[i]]);
    for (int i = 0; i < CHILDREN; i++)
        end(children[i]);
}

/* Without capabilities, in processes that scan at the same time. */
static void forked_processes_scan_without_a_right(void **state) {
    enum { SCANNERS = 4, SCANS = 200 };
    struct bpf *bpf = way_of(state);
    pid_t sleeper = child_that(nothing), scanners[SCANNERS];
    for (int i = 0; i < SCANNERS; i++) {
        scanners[i] = fork();
        if (scanners[i] != 0)
            continue;
        if (setuid(65534) != 0)
            _exit(2);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of the user would have cleared it */
        for (int k = 0; k < SCANS; k++)
            if (!scan(bpf)->is_there[sleeper])
                _exit(3);
        _exit(0);
    }
    for (int i = 0; i < SCANNERS; i++) {
        int status;
        assert_int_equal(waitpid(scanners[i], &status, 0), scanners[i]);
        assert_int_equal(status, 0);
    }
    end(sleeper);
}

/* Threads that continuously start, work a little and end. */
static void *be_short(void *context) {
    burn((void *)1);
    return context;
}

static void *storm(void *context) {
    for (;;) {
        pthread_t threads[8];
        for (int i = 0; i < 8; i++)
            if (pthread_create(&threads[i], NULL, be_short, NULL) != 0)
                return context;
        for (int i = 0; i < 8; i++)
            pthread_join(threads[i], NULL);
    }
}

static void start_storm(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, storm, NULL) != 0)
        _exit(1);
}

static void no_time_runs_backwards(void **state) {
    struct bpf *bpf = way_of(state);
    pid_t child = child_that(start_storm);
    int64_t user_ns = 0, system_ns = 0, until_ns = clock_monotonic_ns() + PATIENCE_NS;
    while (user_ns + system_ns <= 400 * NS_PER_MS) {
        const struct process *process = &scan(bpf)->processes[child];
        struct process truth;
        assert_true(process->user_ns >= user_ns && process->system_ns >= system_ns);
        user_ns = process->user_ns;
        system_ns = process->system_ns;
        assert_int_equal(procfs_read(&procfs, child, &truth), 0);
        assert_true(user_ns + system_ns <= total(&truth) + 2 * TICK_NS); /* none counts twice */
        assert_true(clock_monotonic_ns() < until_ns);
    }
    end(child);
}

/* Then that scan is made by procfs, and times still do not run backwards. */
static void more_processes_than_there_is_room_for(void **state) {
    enum { ROOM = 8 };
    way_of(state);
    struct bpf *small;
    static struct seen seen;
    struct scan said;
    pid_t children[ROOM]; /* and this one: a container may hold nothing else */
    for (int i = 0; i < ROOM; i++)
        children[i] = child_that(nothing);
    assert_int_equal(bpf_open(&small, *(const int *)*state == 0 ? BPF_PATH_RUN : BPF_PATH_ITERATE,
                              ROOM, &why_not),
                     0);
    memset(&seen, 0, sizeof seen);
    assert_int_equal(bpf_scan(small, &procfs, &said, see, &seen), 0);
    assert_string_equal(said.source, "procfs");
    assert_true(seen.is_there[getpid()]);
    bpf_close(small);
    for (int i = 0; i < ROOM; i++)
        end(children[i]);
}

/* The last of so many scans that the threads have been counted again. */
static struct scan much_later(struct bpf *bpf) {
    static struct seen seen;
    struct scan said;
    for (int i = 0; i < 70; i++)
        scan(bpf);
    assert_int_equal(bpf_scan(bpf, &procfs, &said, see, &seen), 0);
    return said;
}

/* With more than six for each process procfs is cheaper, because bpf pays per thread; with fewer it
 * is bpf again. */
static void many_threads_are_left_to_procfs(void **state) {
    (void)state;
    struct bpf *bpf = ways[1];
    if (bpf == NULL)
        skip();
    /* Enough even if half as many processes again are there by then. */
    const int enough = 8 * (int)much_later(bpf).seen;
    many_threads = enough > many_threads ? enough : many_threads;
    pid_t child = child_that(have_many_threads);
    assert_string_equal(much_later(bpf).source, "procfs");
    end(child);
    /* Others may have many threads for a while, too. */
    const int64_t until_ns = clock_monotonic_ns() + PATIENCE_NS;
    while (strcmp(much_later(bpf).source, "bpf") != 0)
        assert_true(clock_monotonic_ns() < until_ns);
}

struct wanted {
    pid_t pid;
    int times;
    struct process last;
};

static void find(void *context, const struct process *process) {
    struct wanted *wanted = context;
    if (process->pid == wanted->pid) {
        wanted->times++;
        wanted->last = *process;
    }
}

static void what_ended_is_told_once_with_all_it_used(void **state) {
    (void)state;
    struct ended *ended;
    struct wanted wanted = {0};
    uint32_t lost, all_lost = 0;
    if (ended_open(&ended) != 0)
        skip();
    ended_take(ended, find, &wanted, &lost);
    wanted.pid = child_that(burn_in_a_thread_that_ends);
    struct process before;
    assert_int_equal(procfs_read(&procfs, wanted.pid, &before), 0);
    end(wanted.pid);
    for (int i = 0; i < 200; i++) { /* it comes when the kernel has released the process */
        usleep(10000);
        ended_take(ended, find, &wanted, &lost);
        all_lost += lost;
    }
    if (all_lost > 0 && wanted.times == 0)
        skip(); /* thousands of others ended within a moment */
    assert_int_equal(wanted.times, 1);
    assert_true(total(&wanted.last) >= total(&before));
    assert_in_range(total(&wanted.last), 150 * NS_PER_MS, 300 * NS_PER_MS);
    assert_int_equal(wanted.last.started_ns, before.started_ns);
    ended_close(ended);
}

#define BOTH_WAYS(test)                                                                            \
    {#test " (way 1)", test, NULL, NULL, &way_1}, {                                                \
#test " (way 2)", test, NULL, NULL, &way_2                                                 \
    }

int main(void) {
    static int way_1 = 0, way_2 = 1;
    const struct CMUnitTest tests[] = {
        BOTH_WAYS(all_of_proc_and_no_other),
        BOTH_WAYS(threads_that_ended_count),
        BOTH_WAYS(many_threads_are_one_process),
        BOTH_WAYS(a_zombie_keeps_its_times),
        BOTH_WAYS(no_process_is_lost_where_a_buffer_ends),
        BOTH_WAYS(forked_processes_scan_without_a_right),
        BOTH_WAYS(no_time_runs_backwards),
        BOTH_WAYS(more_processes_than_there_is_room_for),
        cmocka_unit_test(many_threads_are_left_to_procfs),
        cmocka_unit_test(what_ended_is_told_once_with_all_it_used),
    };
    return cmocka_run_group_tests(tests, open_ways, close_ways);
}

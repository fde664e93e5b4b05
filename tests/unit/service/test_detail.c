#include "unit.h"

#include "base/clock.h"
#include "service/source/detail.h"
#include "service/source/source.h"
#include "service/top/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct detail detail;

struct search {
    int32_t pid;
    int64_t started_ns;
};

static void look_for(void *context, const struct process *process) {
    struct search *search = context;
    if (process->pid == search->pid)
        search->started_ns = process->started_ns;
}

/* Its start time by the best source. */
static int64_t started_ns(pid_t pid) {
    struct search search = {.pid = pid};
    struct source *source;
    struct scan scan;
    assert_int_equal(source_open(&source, SOURCE_AUTO, 0), 0);
    assert_int_equal(source_scan(source, &scan, look_for, &search), 0);
    source_close(source);
    assert_true(search.started_ns > 0);
    return search.started_ns;
}

static struct detail_request ask(bool command, bool threads, uint32_t threads_left) {
    return (struct detail_request){
        .command = command, .threads = threads, .threads_left = threads_left};
}

/* A child with these arguments, which ends with the test. */
static pid_t start(char *const arguments[]) {
    int running[2];
    char byte;
    assert_int_equal(pipe2(running, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execv("/bin/sleep", arguments);
        _exit(1);
    }
    close(running[1]);
    assert_int_equal(read(running[0], &byte, 1), 0); /* closed by exec */
    close(running[0]);
    return child;
}

static void end(pid_t child) {
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void check_command(char *first, const char *expected) {
    char sixty[] = "60";
    char *const arguments[] = {first, sixty, NULL};
    struct detail_request asked = ask(true, false, 0);
    pid_t child = start(arguments);
    assert_int_equal(detail_read(child, started_ns(child), &asked, &detail), 0);
    assert_int_equal(detail.command_length, strlen(expected));
    assert_memory_equal(detail.command, expected, strlen(expected));
    assert_int_equal(detail.threads, 0); /* not asked for */
    end(child);
}

TEST(a_command_line_has_blanks_for_the_ends_of_its_arguments) {
    char plain[] = "sl\neep", empty[] = "";
    check_command(plain, "sl\neep 60");
    check_command(empty, " 60");
}

/* Cut before the character whose escape would exceed the limit. */
TEST(a_long_command_line_is_cut) {
    static char letters[1000], controls[1000], umlauts[1001], cut[1001];
    memset(letters, 'a', sizeof letters - 1);
    memset(controls, 1, sizeof controls - 1);
    for (int i = 0; i < 500; i++)
        memcpy(umlauts + 2 * i, "\xc3\xbc", 2);
    memset(cut, 'a', COMMAND_LIMIT);
    check_command(letters, cut);
    check_command(umlauts + 1, (memset(cut, 0, sizeof cut), memcpy(cut, umlauts + 1, 253)));
    memset(cut, 0, sizeof cut);
    check_command(controls, memset(cut, 1, COMMAND_LIMIT / 4));
}

TEST(of_another_process_with_the_pid_nothing_is_told) {
    char name[] = "x", sixty[] = "60";
    char *const arguments[] = {name, sixty, NULL};
    struct detail_request asked = ask(true, true, THREADS_READ_MOST);
    pid_t child = start(arguments);
    int64_t began_ns = started_ns(child);
    assert_int_equal(detail_read(child, began_ns, &asked, &detail), 0);
    assert_true(detail.command_length > 0 && detail.threads == 1);
    assert_int_equal(detail_read(child, began_ns + 20 * NS_PER_MS, &asked, &detail), 0);
    assert_true(detail.command_length == 0 && detail.threads == 0 && detail.shown == 0);
    kill(child, SIGKILL);
    siginfo_t about; /* a zombie has no command line any more */
    assert_int_equal(waitid(P_PID, (id_t)child, &about, WEXITED | WNOWAIT), 0);
    assert_int_equal(detail_read(child, began_ns, &asked, &detail), 0);
    assert_int_equal(detail.command_length, 0);
    end(child);
    assert_int_equal(detail_read(child, began_ns, &asked, &detail), 0);
    assert_true(detail.command_length == 0 && detail.threads == 0);
}

static pthread_barrier_t all_there;

static void *burn_and_wait(void *argument) {
    const int cpu_ms = *(const int *)argument;
    struct timespec used;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    while (used.tv_sec == 0 && used.tv_nsec < (int64_t)cpu_ms * NS_PER_MS);
    pthread_setname_np(pthread_self(), cpu_ms == 0 ? "idle" : "bu)\n");
    pthread_barrier_wait(&all_there);
    pthread_barrier_wait(&all_there);
    return NULL;
}

TEST(the_busiest_threads_come_first_and_the_rest_is_counted) {
    /* The main thread; the thread sanitizer has one more, in the background. */
    enum { IDLE = 40, THREADS = IDLE + 2, OTHERS = THREAD_SANITIZER ? 2 : 1 };
    static int burns_ms[] = {0, 60, 120};
    pthread_t threads[THREADS];
    int64_t began_ns = started_ns(getpid());
    pthread_barrier_init(&all_there, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, burn_and_wait,
                                        &burns_ms[i < IDLE ? 0 : i - IDLE + 1]),
                         0);
    pthread_barrier_wait(&all_there);
    struct detail_request asked = ask(false, true, THREADS_READ_MOST), few = ask(false, true, 5);
    assert_int_equal(detail_read(getpid(), began_ns, &asked, &detail), 0);
    assert_int_equal(detail.threads, THREADS + OTHERS);
    assert_int_equal(detail.unread, 0);
    assert_int_equal(detail.shown, THREADS_SHOWN);
    assert_int_equal(asked.threads_left, THREADS_READ_MOST - THREADS - OTHERS);
    assert_int_equal(detail.command_length, 0); /* not asked for */
    for (uint32_t i = 1; i < detail.shown; i++)
        assert_true(detail.busiest[i - 1].user_ns + detail.busiest[i - 1].system_ns >=
                    detail.busiest[i].user_ns + detail.busiest[i].system_ns);
    int burnt = 0; /* both of them, among the first with the main thread */
    for (uint32_t i = 0; i < 3; i++)
        burnt +=
            detail.busiest[i].name_length == 4 && memcmp(detail.busiest[i].name, "bu)\n", 4) == 0;
    assert_int_equal(burnt, 2);
    assert_int_equal(detail_read(getpid(), began_ns, &few, &detail), 0);
    assert_int_equal(few.threads_left, 0);
    assert_int_equal(detail.shown, 5);
    assert_int_equal(detail.threads, THREADS + OTHERS);
    assert_int_equal(detail.unread, THREADS + OTHERS - 5);
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void look(uint32_t threads_left, uint32_t kept, uint32_t part, uint32_t *left) {
    struct detail_request asked = {
        .threads = true, .threads_left = threads_left, .reserved = kept, .part = part};
    assert_int_equal(detail_read(getpid(), started_ns(getpid()), &asked, &detail), 0);
    *left = asked.threads_left;
}

/* Of threads that are too many, replies one after the other come to all, and each has the main
 * one. */
TEST(no_thread_is_never_looked_at) {
    enum { THREADS = 40, READ = 5 };
    pthread_t threads[THREADS];
    static bool seen[1 << 22]; /* by tid */
    uint32_t left, alive, count = 0;
    int burns_ms = 0;
    pthread_barrier_init(&all_there, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, burn_and_wait, &burns_ms), 0);
    pthread_barrier_wait(&all_there);
    look(READ, 0, 0, &left);
    alive = detail.threads;
    assert_true(alive > THREADS);
    const uint32_t parts = (alive - 1 + READ - 2) / (READ - 1);
    for (uint32_t part = 0; part < parts; part++) {
        look(READ, 0, UINT32_MAX / parts * parts - parts + part, &left);
        assert_int_equal(left, 0);
        assert_int_equal(detail.shown, READ);
        assert_int_equal(detail.unread, alive - READ);
        bool has_main = false;
        for (uint32_t i = 0; i < READ; i++) {
            int32_t tid = detail.busiest[i].pid;
            has_main |= tid == getpid();
            count += !seen[tid];
            seen[tid] = true;
        }
        assert_true(has_main);
    }
    assert_int_equal(count, alive);
    assert_int_equal(detail_count_threads(getpid()), alive);
    look(20, 13, 0, &left); /* what is kept for others is left */
    assert_int_equal(left, 13);
    assert_int_equal(detail.unread, alive - 7);
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

TEST(that_no_descriptor_is_left_is_told) {
    struct detail_request asked = ask(true, true, THREADS_READ_MOST);
    struct rlimit limit, none;
    int64_t began_ns = started_ns(getpid());
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = (struct rlimit){0, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int error = detail_read(getpid(), began_ns, &asked, &detail);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(error, -EMFILE);
}

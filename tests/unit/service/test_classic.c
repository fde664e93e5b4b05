/* The classic scan over a tree that looks like /proc. */
#define UNIT_OWN_MAIN
#include "proc_tree.h"

#include "base/clock.h"
#include "service/procfs/classic.h"
#include "service/procfs/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SEEN_LIMIT = 64 };

struct seen {
    unsigned count;
    struct process processes[SEEN_LIMIT];
};

static struct seen seen;
static struct scan scan;

static void note(void *context, const struct process *process) {
    struct seen *into = context;
    assert_true(into->count < SEEN_LIMIT);
    into->processes[into->count++] = *process;
}

static int take(void) {
    seen.count = 0;
    return classic_scan(root, &scan, note, &seen);
}

static const struct process *find(int32_t pid) {
    for (unsigned i = 0; i < seen.count; i++)
        if (seen.processes[i].pid == pid)
            return &seen.processes[i];
    fail_msg("process %d was not seen", pid);
    abort(); /* cmocka does not declare that it never returns */
}

static void remove_process(const char *pid) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s/stat", root, pid);
    assert_int_equal(unlink(path), 0);
}

/* Including incomplete ones: proc_tree.h. */
TEST(it_sees_what_the_source_procfs_sees) {
    static struct seen others;
    struct scan other;
    struct procfs procfs;
    assert_int_equal(take(), 0);
    assert_int_equal(procfs_open(&procfs, root), 0);
    assert_int_equal(procfs_scan(&procfs, &other, note, &others), 0);
    procfs_close(&procfs);
    assert_int_equal(scan.seen, 3);
    assert_int_equal(scan.lost, 1); /* pid 43 */
    assert_int_equal(other.seen, scan.seen);
    assert_int_equal(other.lost, scan.lost);
    for (unsigned i = 0; i < others.count; i++) {
        const struct process *expected = &others.processes[i];
        const struct process *process = find(expected->pid);
        assert_int_equal(process->user_ns, expected->user_ns);
        assert_int_equal(process->system_ns, expected->system_ns);
        assert_int_equal(process->started_ns, expected->started_ns);
        assert_int_equal(process->name_length, expected->name_length);
        assert_memory_equal(process->name, expected->name, expected->name_length);
    }
}

/* Each is followed by what the kernel writes after a name. */
TEST(any_name_is_read_byte_for_byte) {
    static const char *const names[] = {
        "",
        ")",
        "))",
        "(",
        "()",
        ") ",
        " ",
        "\n",
        "a) ",
        "a) )",
        "a) R",
        "a) R 1",
        "a) R 1 (b",
        ") 1 1 1 1 1 1 1",
        "a\nb",
        "\xff)",
        "0123456789012345678901234567890123456789012345678901234567890123",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        add_process("77", names[i], 40);
        assert_int_equal(take(), 0);
        const struct process *process = find(77);
        assert_int_equal(process->name_length, strlen(names[i]));
        assert_memory_equal(process->name, names[i], strlen(names[i]));
        assert_int_equal(process->user_ns, 40 * (NS_PER_S / sysconf(_SC_CLK_TCK)));
    }
    remove_process("77");
}

/* Its flags say that it is one (0x200000), and a worker of the kernel (0x20). */
TEST(a_kernel_worker_has_its_short_name) {
    write_at("78", "stat",
             "78 (kworker/0:1-events) I 2 0 0 0 -1 2097184 0 0 0 0 0 3 0 0 20 0 1 0 5 0 0\n");
    assert_int_equal(take(), 0);
    const struct process *process = find(78);
    assert_int_equal(process->name_length, strlen("kworker/0:1"));
    remove_process("78");
}

static unsigned open_descriptors(void) {
    unsigned count = 0;
    DIR *directory = opendir("/proc/self/fd");
    assert_non_null(directory);
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

TEST(a_time_beyond_all_clocks_is_an_unknown_format) {
    write_at("77", "stat",
             "77 (old) S 1 1 1 0 -1 0 0 0 0 0 9223372036854775807 0 0 0 20 0 1 0 5 0 0\n");
    assert_int_equal(take(), 0);
    for (unsigned i = 0; i < seen.count; i++)
        assert_int_not_equal(seen.processes[i].pid, 77);
    remove_process("77");
}

TEST(nothing_is_kept_and_a_change_is_seen_at_once) {
    unsigned before = open_descriptors();
    for (int ticks = 30; ticks < 33; ticks++) {
        add_process("20", "a) R 1 (b", ticks);
        assert_int_equal(take(), 0);
        const struct process *process = find(20);
        assert_int_equal(process->user_ns, ticks * (NS_PER_S / sysconf(_SC_CLK_TCK)));
        assert_int_equal(open_descriptors(), before);
    }
    add_process("20", "a) R 1 (b", 30);
}

TEST(the_machines_busy_time_is_that_of_its_first_line) {
    const int64_t tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
    write_at(".", "stat", "cpu  10 2 5 900 90 3 4 0 0 0\ncpu0 1 1 1 1 1 1 1 0 0 0\n");
    assert_int_equal(take(), 0);
    assert_int_equal(scan.user_ns, 12 * tick_ns);
    assert_int_equal(scan.system_ns, 12 * tick_ns);
    remove_process(".");
}

TEST(without_a_descriptor_it_fails_and_is_not_short) {
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    for (rlim_t spare = 0; spare < 2; spare++) { /* the directory takes one */
        int next = dup(0);
        assert_true(next >= 0);
        close(next);
        none.rlim_cur = (rlim_t)next + spare;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
        int error = take();
        setrlimit(RLIMIT_NOFILE, &before);
        assert_int_equal(error, -EMFILE);
    }
}

static void *scan_often(void *done) {
    static _Thread_local struct seen own;
    struct scan own_scan;
    for (int i = 0; i < 200; i++) {
        own.count = 0;
        if (classic_scan(root, &own_scan, note, &own) != 0 || own_scan.seen != 3)
            return NULL;
    }
    return done;
}

TEST(scans_may_run_at_the_same_time) {
    pthread_t threads[4];
    int done;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, scan_often, &done), 0);
    for (int i = 0; i < 4; i++) {
        void *outcome;
        pthread_join(threads[i], &outcome);
        assert_ptr_equal(outcome, &done);
    }
}

TEST(a_tree_that_is_not_there_is_refused) {
    assert_int_equal(classic_scan("/nonexistent", &scan, note, NULL), -ENOENT);
}

int main(void) {
    return unit_run(make_tree, remove_tree);
}

/* The scan over a tree that looks like /proc. */
#define UNIT_OWN_MAIN
#include "proc_tree.h"

#include "base/clock.h"
#include "service/procfs/procfs.h"
#include "service/top/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct procfs procfs;
static struct snapshot snapshot;

static int open_it(void **state) {
    (void)state;
    return procfs_open(&procfs, root);
}

static int close_it(void **state) {
    (void)state;
    procfs_close(&procfs);
    return 0;
}

#undef TEST_SETUP
#undef TEST_TEARDOWN
#define TEST_SETUP open_it
#define TEST_TEARDOWN close_it

static void offer(void *into, const struct process *process) {
    snapshot_offer(into, process);
}

static int take(struct snapshot *into) {
    snapshot_begin(into);
    int error = procfs_scan(&procfs, &into->scan, offer, into);
    snapshot_end(into);
    return error;
}

/* How much it keeps open is decided when it is opened. */
static void open_with_descriptors(rlim_t count) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < count ? limit.rlim_max : count;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    procfs_close(&procfs);
    assert_int_equal(procfs_open(&procfs, root), 0);
}

static void remove_at(const char *directory, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s/%s", root, directory, name);
    assert_int_equal(unlink(path), 0);
}

TEST(only_whole_processes_are_seen) {
    assert_int_equal(take(&snapshot), 0);
    assert_int_equal(snapshot.scan.seen, 3);
    assert_int_equal(snapshot.scan.lost, 1); /* pid 43 */
    assert_int_equal(snapshot.count, 3);
    const int expected[] = {20, 300, 1};
    for (int i = 0; i < 3; i++)
        assert_int_equal(snapshot.top[i].pid, expected[i]);
    assert_memory_equal(snapshot.top[0].name, "a) R 1 (b", 9);
    assert_memory_equal(snapshot.top[1].name, "two\nlines", 9);
    assert_true(snapshot.top[0].started_ns < clock_boot_ns());
}

TEST(a_scan_can_be_repeated) {
    for (int i = 0; i < 3; i++) {
        assert_int_equal(take(&snapshot), 0);
        assert_int_equal(snapshot.scan.seen, 3);
    }
}

/* An empty stat is how a kept descriptor shows that its process has ended. */
TEST(a_descriptor_is_kept_until_its_process_ends) {
    assert_int_equal(take(&snapshot), 0);
    assert_int_equal(procfs.cache.count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(procfs.cache.entries[i].stat >= SCAN_CACHE_FLOOR);

    write_at("20", "stat", "");
    assert_int_equal(take(&snapshot), 0);
    assert_int_equal(snapshot.scan.seen, 2);
    assert_int_equal(procfs.cache.count, 2);

    add_process("20", "another", 40); /* the pid is used again */
    assert_int_equal(take(&snapshot), 0);
    assert_int_equal(snapshot.scan.seen, 3);
    assert_memory_equal(snapshot.top[0].name, "another", 7);
    add_process("20", "a) R 1 (b", 30);
}

static int64_t user_ticks_of(int32_t pid) {
    assert_int_equal(take(&snapshot), 0);
    for (uint32_t i = 0; i < snapshot.count; i++)
        if (snapshot.top[i].pid == pid)
            return snapshot.top[i].user_ns / procfs.tick_ns;
    return -1;
}

/* `stat` is rewritten in place, as no kernel does: so cached values show. */
TEST(a_sleeper_is_remembered_until_it_has_run) {
    write_at("20", "schedstat", "100 5 3\n");
    assert_int_equal(user_ticks_of(20), 30);
    assert_int_equal(procfs.cache.descriptors, 3);

    add_process("20", "a) R 1 (b", 31);
    assert_int_equal(user_ticks_of(20), 30);
    write_at("20", "schedstat", "100 5 4\n"); /* it was on a CPU again */
    assert_int_equal(user_ticks_of(20), 31);
    add_process("20", "a) R 1 (b", 32);
    assert_int_equal(user_ticks_of(20), 31);
    write_at("20", "schedstat", "101 5 4\n"); /* it was still on it, and has used more */
    assert_int_equal(user_ticks_of(20), 32);

    write_at("20", "schedstat", ""); /* and now it has ended */
    write_at("20", "stat", "");
    assert_int_equal(user_ticks_of(20), -1);
    assert_int_equal(procfs.cache.count, 2);
    assert_int_equal(procfs.cache.descriptors, 2);
    remove_at("20", "schedstat");
    add_process("20", "a) R 1 (b", 30);
}

/* The kernel says "0 0 0" where it does not count. */
TEST(a_schedstat_that_tells_nothing_is_not_trusted) {
    write_at("20", "schedstat", "0 0 0\n");
    assert_int_equal(user_ticks_of(20), 30);
    add_process("20", "a) R 1 (b", 31);
    assert_int_equal(user_ticks_of(20), 31);
    remove_at("20", "schedstat");
    add_process("20", "a) R 1 (b", 30);
}

TEST(with_few_descriptors_none_is_kept) {
    struct rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    open_with_descriptors(SCAN_CACHE_FLOOR);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(take(&snapshot), 0);
        assert_int_equal(snapshot.scan.seen, 3);
        assert_int_equal(procfs.cache.count, 0);
    }
    setrlimit(RLIMIT_NOFILE, &before);
}

TEST(what_is_kept_is_given_up_at_once_and_half_as_much_kept_later) {
    struct rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    open_with_descriptors(SCAN_CACHE_FLOOR * 4);
    assert_false(scan_cache_release(&procfs.cache, clock_monotonic_ns()));
    assert_int_equal(take(&snapshot), 0);
    assert_true(procfs.cache.descriptors == 3);
    assert_true(scan_cache_release(&procfs.cache, clock_monotonic_ns()));
    assert_int_equal(procfs.cache.descriptors, 0);
    assert_int_equal(fcntl(SCAN_CACHE_FLOOR, F_GETFD), -1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(take(&snapshot), 0);
        assert_int_equal(snapshot.scan.seen, 3);
        assert_true(procfs.cache.descriptors <= 1);
    }
    setrlimit(RLIMIT_NOFILE, &before);
}

static uint32_t limit_at(int64_t now_ns) {
    struct scan_cache_news news;
    scan_cache_lock(&procfs.cache, &news, now_ns);
    scan_cache_unlock(&procfs.cache, &news, false);
    return procfs.cache.limit;
}

TEST(what_is_given_up_is_kept_again_when_descriptors_are_no_longer_short) {
    const int64_t short_ns = SCAN_CACHE_RECOVERY_S * (int64_t)NS_PER_S;
    int64_t now_ns = clock_monotonic_ns() - 30 * short_ns;
    struct rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    open_with_descriptors(SCAN_CACHE_FLOOR * 4);
    const uint32_t most = procfs.cache.limit;
    assert_int_equal(take(&snapshot), 0);
    assert_true(scan_cache_release(&procfs.cache, now_ns));
    assert_int_equal(limit_at(now_ns + short_ns - 1), 1);

    assert_false(scan_cache_release(&procfs.cache, now_ns += short_ns - 1)); /* they still are */
    assert_int_equal(limit_at(now_ns + short_ns - 1), 1);
    assert_int_equal(limit_at(now_ns += short_ns), 2);
    assert_int_equal(limit_at(now_ns + short_ns - 1), 2);

    assert_int_equal(take(&snapshot), 0); /* a scan says by itself how late it is */
    assert_int_equal(procfs.cache.limit, 4);
    now_ns = snapshot.scan.taken_mono_ns;
    for (uint32_t limit = 8; limit < most; limit *= 2)
        assert_int_equal(limit_at(now_ns += short_ns), limit);
    for (int i = 0; i < 3; i++)
        assert_int_equal(limit_at(now_ns += short_ns), most);
    assert_int_equal(take(&snapshot), 0);
    assert_int_equal(take(&snapshot), 0);
    assert_int_equal(procfs.cache.descriptors, 3);
    setrlimit(RLIMIT_NOFILE, &before);
}

/* More than one scan may add to the table, in an order that is not that of the pids. */
TEST(two_tables_leave_half_of_the_descriptors_to_connections) {
    struct scan_cache one, two;
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    scan_cache_open(&one);
    scan_cache_open(&two);
    uint32_t alone = one.limit;
    scan_cache_halve(&one);
    scan_cache_halve(&two);
    assert_true(limit.rlim_cur <= 2 * SCAN_CACHE_FLOOR || alone > 0);
    assert_true(one.limit + two.limit <= alone && one.limit + two.limit + 1 >= alone);
    scan_cache_close(&one);
    scan_cache_close(&two);
}

TEST(many_processes_are_all_kept_in_the_end) {
    enum { MANY = 3 * SCAN_CACHE_NEWS_LIMIT };
    char pid[16], path[64];
    struct rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    for (int i = 0; i < MANY; i++) {
        snprintf(pid, sizeof pid, "%d", 1000 + i);
        add_process(pid, "many", 0);
    }
    open_with_descriptors(8192);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(take(&snapshot), 0);
        assert_int_equal(snapshot.scan.seen, MANY + 3);
    }
    assert_int_equal(procfs.cache.count, MANY + 3);
    for (uint32_t i = 1; i < procfs.cache.count; i++)
        assert_true(procfs.cache.entries[i - 1].pid < procfs.cache.entries[i].pid);
    for (int i = 0; i < MANY; i++) {
        snprintf(path, sizeof path, "%s/%d/stat", root, 1000 + i);
        assert_int_equal(truncate(path, 0), 0);
    }
    assert_int_equal(take(&snapshot), 0);
    assert_int_equal(snapshot.scan.seen, 3);
    assert_int_equal(procfs.cache.count, 3);
    setrlimit(RLIMIT_NOFILE, &before);
}

static void *scan_often(void *done) {
    static _Thread_local struct snapshot own;
    for (int i = 0; i < 300; i++)
        if (take(&own) != 0 || own.scan.seen < 2)
            return NULL;
    return done;
}

/* Several scans share the descriptors while one process comes and goes. */
TEST(scans_may_run_at_the_same_time) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, scan_often, &procfs), 0);
    for (int i = 0; i < 200; i++) {
        if (i % 2 == 0)
            write_at("20", "stat", "");
        else
            add_process("20", "a) R 1 (b", 30);
    }
    for (int i = 0; i < 4; i++) {
        void *outcome;
        pthread_join(threads[i], &outcome);
        assert_ptr_equal(outcome, &procfs);
    }
    assert_int_equal(take(&snapshot), 0);
    assert_int_equal(take(&snapshot), 0);
    assert_int_equal(snapshot.scan.seen, 3);
    assert_int_equal(procfs.cache.count, 3);
}

TEST(a_tree_that_is_no_proc_is_refused) {
    struct procfs none;
    assert_int_equal(procfs_open(&none, "/nonexistent"), -ENOENT);
}

int main(void) {
    return unit_run(make_tree, remove_tree);
}

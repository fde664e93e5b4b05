/* How the source bpf processes the kernel's records: order, sums of threads, and no time that runs
 * backwards. */
#include "unit.h"

#include "service/bpf/from_record.h"
#include "service/bpf/gather.h"
#include "service/bpf/monotonic.h"
#include "service/bpf/order.h"

#include <string.h>

enum { TICK_NS = 10000000, ROOM = 4 };

static struct monotonic_entry tables[2][ROOM];
static struct monotonic told;

static int empty(void **state) {
    (void)state;
    told = (struct monotonic){.entries = tables[0], .waiting = tables[1], .limit = ROOM};
    return 0;
}
#undef TEST_SETUP
#define TEST_SETUP empty

static struct process pass(int pid, int64_t started_ns, int64_t user_ns, int64_t system_ns) {
    struct process process = {
        .pid = pid, .started_ns = started_ns, .user_ns = user_ns, .system_ns = system_ns};
    monotonic_pass(&told, &process);
    return process;
}

static void assert_times(struct process process, int64_t user_ns, int64_t system_ns) {
    assert_int_equal(process.user_ns, user_ns);
    assert_int_equal(process.system_ns, system_ns);
}

TEST(what_was_told_stays_told) {
    monotonic_begin(&told);
    assert_times(pass(5, 0, 100, 50), 100, 50);
    assert_times(pass(9, 0, 10, 10), 10, 10);
    monotonic_end(&told);
    monotonic_begin(&told);
    assert_times(pass(5, 0, 90, 70), 100, 60); /* another split of more */
    assert_times(pass(9, 0, 5, 5), 10, 10);    /* less: a thread was just ending */
    monotonic_end(&told);
    monotonic_begin(&told);
    assert_times(pass(5, 0, 150, 55), 145, 60);
    assert_times(pass(9, 0, 12, 10), 12, 10);
}

TEST(another_process_with_the_pid_begins_anew) {
    monotonic_begin(&told);
    pass(5, 0, 100, 50);
    monotonic_end(&told);
    monotonic_begin(&told);
    assert_times(pass(5, 3 * TICK_NS, 1, 1), 1, 1);
    monotonic_end(&told);
    monotonic_begin(&told); /* the same one, by a source with coarser times */
    assert_times(pass(5, 3 * TICK_NS + 5, 0, 0), 1, 1);
}

TEST(what_a_scan_told_that_was_broken_off_stays_told) {
    monotonic_begin(&told);
    pass(5, 0, 100, 50);
    pass(9, 0, 10, 10);
    monotonic_end(&told);
    monotonic_begin(&told);
    pass(3, 0, 1, 1);
    pass(5, 0, 200, 50);
    for (int scan = 0; scan < 2; scan++) {
        monotonic_begin(&told);
        assert_times(pass(5, 0, 190, 70), 200, 60);
        assert_times(pass(9, 0, 5, 15), 10, 10);
        monotonic_end(&told);
    }
}

TEST(what_somebody_was_moving_who_died_is_forgotten) {
    for (int is_moving = 0; is_moving < 2; is_moving++) {
        monotonic_begin(&told);
        pass(5, 0, 100, 50);
        monotonic_end(&told);
        told.is_moving = is_moving;
    }
    monotonic_begin(&told);
    assert_times(pass(5, 0, 10, 10), 10, 10);
    monotonic_end(&told);
    monotonic_begin(&told);
    assert_times(pass(5, 0, 5, 5), 10, 10);
}

/* Against a table by pid, over lives at random. */
TEST(processes_come_and_go_anywhere) {
    enum { PIDS = 60, SCANS = 2000 };
    static struct monotonic_entry entries[PIDS], waiting[PIDS];
    int64_t alive[PIDS] = {0}, floors[PIDS] = {0}; /* when it began; what was told of it */
    uint64_t random = 1;
    told = (struct monotonic){.entries = entries, .waiting = waiting, .limit = PIDS};
    for (int scan = 1; scan <= SCANS; scan++) {
        monotonic_begin(&told);
        for (int pid = 0; pid < PIDS; pid++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            if ((random >> 60) == 0) {
                alive[pid] = (random >> 59 & 1) != 0 ? scan : 0;
                floors[pid] = 0;
            }
            int64_t user_ns = (int64_t)(random >> 40);
            if (alive[pid] == 0)
                continue;
            if (user_ns > floors[pid])
                floors[pid] = user_ns;
            assert_times(pass(pid + 1, alive[pid] * TICK_NS, user_ns, 0), floors[pid], 0);
        }
        monotonic_end(&told);
    }
}

TEST(beyond_the_limit_all_are_let_through) {
    for (int turn = 0; turn < 2; turn++) {
        monotonic_begin(&told);
        for (int pid = 1; pid <= ROOM + 2; pid++)
            assert_times(pass(pid, 0, pid, pid), pid, pid);
        monotonic_end(&told);
    }
}

TEST(records_come_by_ascending_pid) {
    const int pids[][7] = {{1, 2, 3, 4, 5, 6, 7},
                           {1, 30, 40, 2, 3, 35, 50},
                           {7, 6, 5, 4, 3, 2, 1},
                           {5, 1, 6, 2, 7, 3, 4}};
    struct run runs[7];
    for (size_t i = 0; i < sizeof pids / sizeof pids[0]; i++) {
        struct record records[7];
        for (int k = 0; k < 7; k++)
            records[k].pid = (unsigned)pids[i][k] & RECORD_PID_MOST;
        for (uint32_t count = 0; count <= 7; count++) {
            struct order order;
            uint32_t visited = 0;
            order_begin(&order, records, count, runs);
            for (const struct record *next, *last = NULL; (next = order_next(&order)) != NULL;
                 last = next, visited++)
                assert_true(last == NULL || last->pid < next->pid);
            assert_int_equal(visited, count);
        }
    }
}

TEST(run_time_is_split_as_ticks_found_it) {
    struct process process;
    struct record record = {.started = 3,
                            .run_ns = 1000,
                            .user_ns = 3,
                            .system_ns = 1,
                            .pid = RECORD_PID_MOST,
                            .name = "fifteen letters"};
    process_of_record(&process, &record);
    assert_times(process, 750, 250);
    assert_int_equal(process.started_ns, 3 * TICK_NS);
    assert_int_equal(process.pid, RECORD_PID_MOST);
    assert_int_equal(process.name_length, 15);
    record.user_ns = record.system_ns = 0;
    process_of_record(&process, &record);
    assert_times(process, 1000, 0);
    record.system_ns = 1;
    process_of_record(&process, &record);
    assert_times(process, 0, 1000);
    record.reported_user_ns = 400; /* as /proc once said it */
    process_of_record(&process, &record);
    assert_times(process, 400, 600);
    record.run_ns = UINT64_C(1) << 60; /* 36 years: the product has 120 bits */
    record.user_ns = record.system_ns = UINT64_C(1) << 59;
    process_of_record(&process, &record);
    assert_times(process, INT64_C(1) << 59, INT64_C(1) << 59);
}

static struct record records[ROOM];
static struct group groups[ROOM];
static struct gather gather;

static void thread(int tid, int pid, unsigned threads, unsigned changes) {
    struct thread_record record = {.record = {.pid = (unsigned)tid & RECORD_PID_MOST,
                                              .run_ns = 100,
                                              .user_ns = 10,
                                              .system_ns = 1},
                                   .process = (unsigned)pid & RECORD_PID_MOST,
                                   .threads = threads,
                                   .changes = changes};
    gather_add(&gather, &record);
}

static void begin(void) {
    gather = (struct gather){.records = records, .groups = groups, .room = ROOM};
    gather_begin(&gather);
}

TEST(threads_are_added_up) {
    begin();
    thread(3, 20, 3, 8); /* numbers begin anew: this one is before its process */
    thread(10, 10, 1, 2);
    thread(20, 20, 3, 8);
    thread(21, 20, 3, 8);
    thread(21, 20, 3, 8); /* shown again */
    gather_end(&gather);
    assert_false(gather.is_full);
    assert_int_equal(gather.count, 2);
    assert_int_equal(records[0].pid, 10);
    assert_false(records[0].is_torn);
    assert_int_equal(records[1].pid, 20);
    assert_false(records[1].is_torn);
    assert_int_equal(records[1].run_ns, 300);
    assert_int_equal(records[1].user_ns, 30);
    assert_int_equal(records[1].system_ns, 3);
}

TEST(what_changed_meanwhile_is_known) {
    begin();
    thread(10, 10, 2, 2); /* the other one ended */
    thread(20, 20, 2, 8);
    thread(21, 20, 1, 10); /* another one ended between the two */
    thread(30, 30, 1, 3);  /* its sums were being changed */
    gather_end(&gather);
    for (int i = 0; i < 3; i++)
        assert_true(records[i].is_torn);
}

TEST(too_little_room_is_known) {
    begin();
    for (int pid = 1; pid <= ROOM; pid++)
        thread(pid, pid, 1, 0);
    assert_false(gather.is_full);
    thread(ROOM + 1, ROOM + 1, 1, 0);
    assert_true(gather.is_full);
    begin();
    for (int tid = 1; tid <= ROOM + 1; tid++)
        thread(tid, 100, ROOM + 2, 0);
    assert_true(gather.is_full);
}

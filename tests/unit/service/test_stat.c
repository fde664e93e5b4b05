#include "unit.h"

#include "service/procfs/schedstat.h"
#include "service/procfs/stat.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { TICK_NS = 10000000 };

#define REST                                                                                       \
    " S 1 1 1 0 -1 4194560 100 200 3 4 250 75 9 8 20 0 1 0 500 1000000 300 18446744073709551615\n"

static int parse(const char *text, struct process *process) {
    return stat_parse(text, strlen(text), TICK_NS, process);
}

static void assert_name(const char *name, size_t length) {
    char text[512];
    struct process process;
    int head = snprintf(text, sizeof text, "42 (");
    memcpy(text + head, name, length);
    int tail = snprintf(text + head + length, sizeof text - (size_t)head - length, ")%s", REST);
    assert_int_equal(stat_parse(text, (size_t)head + length + (size_t)tail, TICK_NS, &process), 0);
    assert_int_equal(process.pid, 42);
    assert_int_equal(process.name_length, length);
    assert_memory_equal(process.name, name, length);
    assert_int_equal(process.user_ns, 2500000000);
    assert_int_equal(process.system_ns, 750000000);
    assert_int_equal(process.started_ns, 5000000000);
}

static void assert_kernel_name(const char *told, unsigned flags, const char *expected) {
    char text[512];
    struct process process;
    snprintf(text, sizeof text, "42 (%s) I 2 0 0 0 -1 %u 100 200 3 4 250 75 9 8 20 0 1 0 500 1\n",
             told, flags);
    assert_int_equal(parse(text, &process), 0);
    assert_int_equal(process.name_length, strlen(expected));
    assert_memory_equal(process.name, expected, strlen(expected));
}

/* Known to every source, whatever the thread is doing. */
TEST(kernel_threads_have_their_short_name) {
    const unsigned thread = 0x208040, worker = 0x4208060, user = 0x400000;
    assert_kernel_name("pool_workqueue_release", thread, "pool_workqueue_");
    assert_kernel_name("ksoftirqd/0", thread, "ksoftirqd/0");
    assert_kernel_name("kworker/0:1-events", worker, "kworker/0:1");
    assert_kernel_name("kworker/u8:3+flush-254:0", worker, "kworker/u8:3");
    assert_kernel_name("kworker/1:0H", worker, "kworker/1:0H");
    assert_kernel_name("kworker/R-kvfree_rcu_reclaim", worker, "kworker/R-kvfre");
    assert_kernel_name("kworker/0:1-events", user, "kworker/0:1-events");
}

TEST(names_may_hold_anything) {
    const char *const names[] = {"cat",
                                 "",
                                 "a) R 1 (b",
                                 ") S 1 1",
                                 "a b",
                                 "line\nbreak",
                                 "\\\"'",
                                 "(((",
                                 ")))",
                                 "\xff\xfe",
                                 "kworker/u8:0-events_unbound"}; /* of a process that says so */
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_name(names[i], strlen(names[i]));
    assert_name("nul\0nul", 7);
}

TEST(a_name_longer_than_the_limit_is_cut) {
    char text[512];
    struct process process;
    snprintf(text, sizeof text, "1 (%0100d)%s", 7, REST);
    assert_int_equal(parse(text, &process), 0);
    assert_int_equal(process.name_length, NAME_LIMIT);
}

TEST(text_that_is_cut_anywhere_is_refused) {
    struct process process;
    const char *whole = "42 (cat)" REST;
    size_t start_time = (size_t)(strstr(whole, " 500 ") - whole) + 5;
    for (size_t length = 0; length < start_time; length++)
        assert_int_equal(stat_parse(whole, length, TICK_NS, &process), -EINVAL);
    assert_int_equal(stat_parse(whole, start_time, TICK_NS, &process), 0);
}

TEST(other_text_is_refused) {
    struct process process;
    const char *const wrong[] = {
        "",
        ")(",
        "()" REST,
        "(cat)" REST,
        "0 (cat)" REST,
        "-1 (cat)" REST,
        "x (cat)" REST,
        "42(cat)" REST,
        "99999999999 (cat)" REST,
        "1 (cat) S 1 1 1 0 -1 4194560 100 200 3 4 -250 75 9 8 20 0 1 0 500 1\n",
        "1 (cat) S 1 1 1 0 -1 4194560 100 200 3 4 9223372036854775807 75 9 8 20 0 1 0 500 1\n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(parse(wrong[i], &process), -EINVAL);
}

TEST(only_one_sleeping_thread_rests) {
    static const struct {
        const char *text;
        enum stat_rest rest;
    } cases[] = {
        {"42 (a) S 1 1 1 0 -1 4 1 2 3 4 250 75 9 8 20 0 1 0 500 1 3\n", STAT_SLEEPS},
        {"42 (a) Z 1 1 1 0 -1 4 1 2 3 4 250 75 9 8 20 0 1 0 500 1 3\n", STAT_SLEEPS},
        {"42 (a) R 1 1 1 0 -1 4 1 2 3 4 250 75 9 8 20 0 1 0 500 1 3\n", STAT_RUNS},
        {"42 (a) R (b) S 1 1 1 0 -1 4 1 2 3 4 250 75 9 8 20 0 1 0 5 1 3\n", STAT_SLEEPS},
        {"42 (a) S 1 1 1 0 -1 4 1 2 3 4 250 75 9 8 20 0 2 0 500 1 3\n", STAT_MANY_THREADS},
        {"42 (a) S 1 1 1 0 -1 4 1 2 3 4 250 75 9 8 20 0 11 0 500 1 3\n", STAT_MANY_THREADS},
        {"42 (a) S 1 1 1 0 -1 4 1 2 3 4 250 75 9 8 20 0 0 0 500 1 3\n", STAT_MANY_THREADS},
        {"42 (a) S 1 1 1", STAT_MANY_THREADS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(stat_rest(cases[i].text, strlen(cases[i].text)), cases[i].rest);
}

static struct schedstat parse_schedstat(const char *text) {
    return schedstat_parse(text, strlen(text));
}

TEST(schedstat_is_three_numbers_or_nothing) {
    struct schedstat found = parse_schedstat("123456789012 42 7\n");
    assert_int_equal(found.ran_ns, 123456789012);
    assert_int_equal(found.turns, 7);
    assert_true(schedstat_is(found, parse_schedstat("123456789012 43 7\n")));
    assert_false(schedstat_is(found, parse_schedstat("123456789013 42 7\n")));
    assert_false(schedstat_is(found, parse_schedstat("123456789012 42 8\n")));
    static const char *const others[] = {"",        "0 0 0\n",  "1 2 3", "1 2\n",
                                         "1 2 x\n", "-1 2 3\n", "1  3\n"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(schedstat_is(parse_schedstat(others[i]), parse_schedstat(others[i])));
}

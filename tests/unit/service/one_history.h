/* One history of the simulated machine, new for each test, and what tests do with it. */
#pragma once
#include "unit.h"

#include "service/history/history.h"
#include "service/history/state.h"
#include "simulated.h"

#include <string.h>

static struct history *history;

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

static inline void record(void) {
    assert_int_equal(history_record(history, NULL, NULL), 0);
}

static inline void pass_ms(int64_t ms) {
    sim.now_ns += ms * NS_PER_MS;
}

static inline struct history_answer ask(enum by by, enum grouping group, int64_t window_s,
                                        unsigned rows) {
    struct history_answer answer;
    const struct history_ask asked = {by, group, window_s * NS_PER_S, rows};
    assert_true(history_ask(history, &asked, &answer));
    return answer;
}

static inline void assert_row(const struct history_row *row, int32_t pid, const char *name,
                              int64_t user_ms, int64_t system_ms) {
    assert_int_equal(row->pid, pid);
    assert_int_equal(row->name_length, strlen(name));
    assert_memory_equal(row->name, name, row->name_length);
    assert_int_equal(row->user_ns, user_ms * NS_PER_MS);
    assert_int_equal(row->system_ns, system_ms * NS_PER_MS);
}

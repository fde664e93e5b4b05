#include "unit.h"

#include "client/load/load.h"

#include <string.h>

static struct expect_list list;

/* NULL, or the problem. */
static const char *read_text(const char *text) {
    static char problem[EXPECT_PROBLEM_LIMIT];
    expect_list_release(&list);
    return expect_list_parse(text, strlen(text), &list, problem) == 0 ? NULL : problem;
}

TEST(each_line_says_what_the_reply_to_a_request_must_be) {
    assert_null(read_text("# a look\n\n200 11 11 0d4A1185\n303 0 20 -\n"
                          "200 4000 4100 00000000 3-7,7-8,20-4096\n"));
    assert_int_equal(list.count, 3);
    const struct expectation *each = list.each;
    assert_int_equal(each[0].status, 200);
    assert_true(each[0].has_digest && each[2].has_digest);
    assert_int_equal(each[0].digest, 0x0D4A1185);
    assert_int_equal(each[0].varying_count, 0);
    assert_int_equal(each[1].status, 303);
    assert_false(each[1].has_digest);
    assert_int_equal(each[1].low, 0);
    assert_int_equal(each[1].high, 20);
    assert_int_equal(each[2].varying_count, 3);
    assert_int_equal(each[2].varying[0].from, 3);
    assert_int_equal(each[2].varying[2].to, 4096);
}

TEST(a_wrong_file_is_refused_with_its_line) {
    static const char *const WRONG[][2] = {
        {"200 1 1 -\n600 1 1 -\n", "line 2: it does not begin with a status"},
        {"100 1 1 -", "a status"},
        {"x 1 1 -", "a status"},
        {"200", "the least and the most"},
        {"200 2 1 -", "the least and the most"},
        {"200 1", "the least and the most"},
        {"200 1 1", "8 hexadecimal digits"},
        {"200 1 1 1234567", "8 hexadecimal digits"},
        {"200 1 1 123456789", "8 hexadecimal digits"},
        {"200 1 1 1234567g", "8 hexadecimal digits"},
        {"200 1 1 12345678 5", "in order"},
        {"200 1 1 12345678 5-5", "in order"},
        {"200 1 1 12345678 5-7,6-8", "in order"},
        {"200 1 1 12345678 5-7-9", "in order"},
        {"200 1 1 12345678 5-7,,9-10", "in order"},
    };
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        const char *problem = read_text(WRONG[i][0]);
        if (problem == NULL || strstr(problem, WRONG[i][1]) == NULL)
            fail_msg("%s: %s", WRONG[i][0], problem == NULL ? "accepted" : problem);
    }
}

/* Of the requests of a list, and of the same one in every turn. */
TEST(the_first_ten_digests_are_compared_and_then_one_in_64_at_least) {
    struct worker worker = {.next_request = 0};
    struct load load = {.dialect = DIALECT_HTTP};
    assert_null(read_text("200 1 1 00000000"));
    const struct request request = {.expectation = list.each};
    struct reply reply;
    unsigned compared = 0, by_turn[64] = {0};
    for (int i = 0, last = 0; i < 64 * 1000; i++) {
        load_reply_begin(&load, &worker, &reply, &request, false, NULL);
        if (i < 10)
            assert_true(reply.is_digested);
        if (reply.is_digested) {
            compared++;
            by_turn[i % 64]++;
            assert_in_range(i - last, i < 10 ? 0 : 32 - (i == 10), 64);
            last = i;
        }
    }
    assert_in_range(compared, 1000, 2000);
    for (int turn = 0; turn < 64; turn++)
        assert_in_range(by_turn[turn], 5, 60);
}

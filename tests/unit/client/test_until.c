#include "unit.h"

#include "client/reply/until.h"

#include <stdio.h>
#include <string.h>

static char kept[UNTIL_SPAN];

static void compile(struct until *until, const char *pattern) {
    const char *problem = "";
    if (until_compile(until, pattern, &problem) != 0)
        fail_msg("%s: %s", pattern, problem);
}

/* Bytes left after the end are surplus, as in one piece. */
static enum until_found feed(const char *pattern, const char *bytes, size_t length, size_t first,
                             size_t piece) {
    struct until until;
    struct until_tail tail = {.bytes = kept};
    enum until_found found = UNTIL_MISSING;
    compile(&until, pattern);
    for (size_t at = 0; at < length && found == UNTIL_MISSING;) {
        size_t size = at == 0 ? first : piece;
        size = size < length - at ? size : length - at;
        found = until_feed(&until, &tail, bytes + at, size);
        at += size;
        if (found == UNTIL_AT_END && at < length)
            found = UNTIL_BEFORE;
    }
    regfree(&until.pattern);
    return found;
}

/* In one piece, byte by byte and split in two at every position: always the same. */
static void check(const char *pattern, const char *bytes, size_t length,
                  enum until_found expected) {
    assert_int_equal(feed(pattern, bytes, length, length, length), expected);
    assert_int_equal(feed(pattern, bytes, length, 1, 1), expected);
    for (size_t first = 1; first < length; first++)
        assert_int_equal(feed(pattern, bytes, length, first, length), expected);
}

#define UNTIL(pattern, literal, expected) check(pattern, literal, sizeof(literal) - 1, expected)

TEST(a_reply_ends_where_the_pattern_first_matches) {
    UNTIL("^\\+PONG\\r\\n", "+PONG\r\n", UNTIL_AT_END);
    UNTIL("^\\+PONG\\r\\n", "+PONG\r", UNTIL_MISSING);
    UNTIL("\\n", "one\ntwo\n", UNTIL_BEFORE);
    UNTIL("^END\\r\\n", "VALUE k 0 5\r\nhello\r\nEND\r\n", UNTIL_AT_END);
    UNTIL("^\\$[0-9]+\\r\\n.*\\r\\n", "$5\r\nhello\r\n", UNTIL_AT_END);
    UNTIL("a|abc", "xabc", UNTIL_BEFORE);
}

TEST(the_start_of_a_line_is_that_of_the_reply_too) {
    UNTIL("^ok", "ok", UNTIL_AT_END);
    UNTIL("^ok", "not ok", UNTIL_MISSING);
    UNTIL("^ok", "not\nok", UNTIL_AT_END);
}

TEST(a_nul_byte_is_a_byte) {
    UNTIL("end", "a\0b\0end", UNTIL_AT_END);
    UNTIL("end", "en\0d", UNTIL_MISSING);
}

TEST(escapes_mean_their_bytes_and_nothing_special) {
    UNTIL("\\x2e\\x41", "xA.A", UNTIL_AT_END);
    UNTIL("\\.", "x.", UNTIL_AT_END);
    UNTIL("\\.", "xy", UNTIL_MISSING);
    UNTIL("[\\r\\n]", "x\r", UNTIL_AT_END);
    UNTIL("[[:digit:]]\\t", "x1\t", UNTIL_AT_END);
    UNTIL("[]a][^]a]", "xab", UNTIL_AT_END);
    UNTIL("\\<", "x<", UNTIL_AT_END);
    UNTIL("\\xff", "\xff", UNTIL_AT_END);
}

TEST(a_match_far_into_a_reply_is_found_however_it_is_split) {
    static char reply[5 * UNTIL_SPAN];
    memset(reply, 'x', sizeof reply);
    memcpy(reply + sizeof reply - 4, "end\n", 4);
    for (size_t first = sizeof reply - 6; first < sizeof reply; first++)
        assert_int_equal(feed("end\\n", reply, sizeof reply, first, 1), UNTIL_AT_END);
    assert_int_equal(feed("end\\n", reply, sizeof reply, 1, 1000), UNTIL_AT_END);
    assert_int_equal(feed("^end\\n", reply, sizeof reply, 1, 1000), UNTIL_MISSING);
    reply[UNTIL_SPAN + 3] = 'e';
    memcpy(reply + UNTIL_SPAN - 1, "end\n", 4); /* across two pieces */
    assert_int_equal(feed("end\\n", reply, sizeof reply, sizeof reply, 1), UNTIL_BEFORE);
}

TEST(a_wrong_pattern_is_refused) {
    static const char *const WRONG[] = {"",    "x*",        "^",       "a$",    "(a$|b)", "(",
                                        "\\d", "a\\x00",    "a\\x5",   "\\b",   "\\1",    "a\\",
                                        "[a",  "[[:alpha:", "[\\x5d]", "[\\-]", "a{2,1}"};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        struct until until;
        const char *problem = NULL;
        if (until_compile(&until, WRONG[i], &problem) == 0)
            fail_msg("%s was accepted", WRONG[i]);
        assert_non_null(problem);
    }
}

TEST(repetitions_that_would_take_all_memory_are_refused) {
    static const char *const HUGE_ONES[] = {
        "a++++++++++++++++++++++++++++++++",
        "((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+",
        "(a{100}){100}",
        "(([a-z]{20,}){20}){20}",
        "a{9}{9}{9}{9}",
        "({x}a++++++++++++++)",
        "(a|b{99999999999})",
        "^a*+++",
        "((((a*)b)+c)?d){2}",
        "a????????????????",
        "(((((((((((a*b)*c)*d)*e)*f)*g)*h)*i)*j)*k)*l)*",
        "a(())++++++++++++++++",
        "a|^++++++++++++++++",
        "((((((((((((((((((((((((((((((((((a))))))))))))))))))))))))))))))))))",
    };
    struct until until;
    const char *problem = NULL;
    for (size_t i = 0; i < sizeof HUGE_ONES / sizeof *HUGE_ONES; i++) {
        if (until_compile(&until, HUGE_ONES[i], &problem) == 0)
            fail_msg("%s was accepted", HUGE_ONES[i]);
        assert_non_null(strstr(problem, "its repetitions multiply"));
    }
    static const char *const FINE[] = {"([0-9]{1,3}[.]){3}[0-9]{1,3}\\n", "[^x]{255}y", "\\++a",
                                       "[+]+(a+b+)+c+\\n", "(.{30}\\n){30}"};
    for (size_t i = 0; i < sizeof FINE / sizeof *FINE; i++) {
        if (until_compile(&until, FINE[i], &problem) != 0)
            fail_msg("%s: %s", FINE[i], problem);
        regfree(&until.pattern);
    }
}

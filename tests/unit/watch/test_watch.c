#define UNIT_OWN_MAIN
#include "unit.h"

#include "base/clock.h"
#include "watch/answer.h"
#include "watch/clean.h"
#include "watch/figures.h"
#include "watch/json.h"
#include "watch/layout.h"
#include "watch/plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct json of(const char *text) {
    return (struct json){text, text + strlen(text), false};
}

/* The string, or NULL if it is none. Valid until the next call. */
static const char *string_of(const char *text, size_t size) {
    static char out[64];
    struct json json = of(text);
    assert_true(size <= sizeof out);
    return json_string(&json, out, size) && json_over(&json) ? out : NULL;
}

TEST(strings_are_decoded) {
    assert_string_equal(string_of("\"plain\"", 64), "plain");
    assert_string_equal(string_of(" \"\\\"\\\\\\/\\b\\f\\n\\r\\t\" ", 64), "\"\\/\b\f\n\r\t");
    assert_string_equal(string_of("\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"", 64), "Aé€😀");
    assert_string_equal(string_of("\"\\u0000\"", 64), "\xc0\x80");
    assert_string_equal(string_of("\"\\ud800x\"", 64), "\xed\xa0\x80x");
    assert_string_equal(string_of("\"\\ud800\\u0041\"", 64), "\xed\xa0\x80"
                                                             "A");
    assert_string_equal(string_of("\"\xff\"", 64), "\xff");
}

TEST(a_long_string_is_cut_between_characters) {
    assert_string_equal(string_of("\"abcé\"", 5), "abc");
    assert_string_equal(string_of("\"abcé\"", 6), "abcé");
    assert_string_equal(string_of("\"éé\"", 1), "");
}

TEST(what_is_no_string_is_told) {
    static const char *const WRONG[] = {"",        "\"",      "\"a",       "a\"",
                                        "\"\\x\"", "\"\\u",   "\"\\u12\"", "\"\\u12g4\"",
                                        "\"\n\"",  "\"a\" b", "1",         "\"\\"};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++)
        assert_null(string_of(WRONG[i], 64));
}

static int64_t nano_of(const char *text) {
    struct json json = of(text);
    int64_t value;
    return json_nano(&json, &value) && json_over(&json) ? value : -1;
}

TEST(numbers_are_exact) {
    assert_int_equal(nano_of("0"), 0);
    assert_int_equal(nano_of("1.5"), 1500000000);
    assert_int_equal(nano_of("1795269292.048987"), 1795269292048987000);
    assert_int_equal(nano_of("0.1234567891111111"), 123456789);
    assert_int_equal(nano_of("8999999999.999999999"), 8999999999999999999);
    static const char *const WRONG[] = {
        "", "-1", ".5", "1.", "1.x", "1e3", "x", "9000000000", "1000000000000000000000"};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++)
        assert_int_equal(nano_of(WRONG[i]), -1);
}

static bool skips(const char *text) {
    struct json json = of(text);
    return json_skip(&json) && json_over(&json);
}

TEST(anything_can_be_passed_over) {
    assert_true(
        skips("{\"a\": [1, -2.5e+3, {\"b\": null}], \"c\": true, \"d\": false, \"e\": {}}"));
    assert_true(skips("[]"));
    static const char *const WRONG[] = {"{",        "[1",    "[1,",      "[1,]",  "{\"a\"}",
                                        "{\"a\":}", "{1:2}", "tru",      "[1 2]", "{\"a\":1,}",
                                        "",         "]",     "{\"a\" 1}"};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++)
        assert_false(skips(WRONG[i]));
}

TEST(depth_has_a_limit) {
    static char deep[100001];
    memset(deep, '[', sizeof deep - 1);
    assert_false(skips(deep));
}

/* A truncated or damaged answer is refused or read, never beyond its end: each copy has exactly its
 * own size, which a sanitizer checks. */
TEST(an_answer_that_is_cut_or_spoilt_does_no_harm) {
    static const char WHOLE[] =
        "{\"host\": \"a\", \"age_ms\": 1, \"source\": \"bpf\", \"source_reason\": null, "
        "\"by\": \"recent\", \"group\": null, \"elapsed_seconds\": 10.003, \"processes\": "
        "[{\"rank\": 1, \"pid\": 7, \"name\": \"x\\u00e9\", \"user_seconds\": 1.5, "
        "\"system_seconds\": 0.25}], \"rest\": {\"user_seconds\": 2, \"system_seconds\": 3, "
        "\"processes\": 4}}";
    struct answer *answer = malloc(sizeof *answer);
    assert_null(answer_parse(WHOLE, strlen(WHOLE), answer));
    assert_int_equal(answer->count, 1);
    assert_int_equal(answer->rows[0].user_ns, 1500000000);
    assert_string_equal(answer->rows[0].name, "xé");
    assert_int_equal(answer->elapsed_ns, 10003000000);
    assert_int_equal(answer->rest.processes, 4);
    for (size_t length = 0; length < strlen(WHOLE); length++) {
        char *cut = malloc(length + 1);
        memcpy(cut, WHOLE, length);
        assert_non_null(answer_parse(cut, length, answer));
        free(cut);
    }
    for (size_t at = 0; at < strlen(WHOLE); at++) {
        static const char SPOILS[] = "\"\\{}[],:0-e\x01\xff";
        for (size_t with = 0; with < sizeof SPOILS; with++) {
            char *spoilt = malloc(strlen(WHOLE));
            memcpy(spoilt, WHOLE, strlen(WHOLE));
            spoilt[at] = SPOILS[with];
            answer_parse(spoilt, strlen(WHOLE), answer);
            assert_true(answer->count <= TOP_LIMIT);
            free(spoilt);
        }
    }
    free(answer);
}

/* Where one word or null may follow, with a page behind it that nobody may touch. */
TEST(nothing_is_read_beyond_an_answer_that_ends_in_blanks) {
    static const char ENDS[] = "{\"group\":  ";
    static struct answer answer;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    char *body = pages + page - strlen(ENDS);
    memcpy(body, ENDS, strlen(ENDS));
    assert_non_null(answer_parse(body, strlen(ENDS), &answer));
    assert_int_equal(munmap(pages, 2 * page), 0);
}

static const char *clean(const char *string) {
    static char bytes[256];
    struct text out = text_fixed(bytes, sizeof bytes - 1);
    clean_add(&out, string);
    bytes[out.length] = '\0';
    return bytes;
}

TEST(nothing_but_what_is_printable_stays) {
    assert_string_equal(clean("a) R 1 (b\\n"), "a) R 1 (b\\n");
    assert_string_equal(clean("\x1b[2J\x7f\n"), "\\x1b[2J\\x7f\\x0a");
    assert_string_equal(clean("\xc2\x9b"), "\\xc2\\x9b");
    assert_string_equal(clean("\xff\xc3"), "\\xff\\xc3");
    assert_string_equal(clean("\xe2\x80\xae"), "\\xe2\\x80\\xae");
    assert_string_equal(clean("é日😀"), "é日😀");
}

static const char *cut(const char *string, unsigned columns, unsigned taken) {
    static char bytes[256];
    struct text out = text_fixed(bytes, sizeof bytes - 1);
    assert_int_equal(clean_cut(&out, string, strlen(string), columns), taken);
    bytes[out.length] = '\0';
    return bytes;
}

TEST(text_is_cut_by_what_it_takes_on_the_screen) {
    assert_string_equal(cut("abc", 3, 3), "abc");
    assert_string_equal(cut("abcd", 3, 3), "ab…");
    assert_string_equal(cut("日本", 4, 4), "日本");
    assert_string_equal(cut("日本語", 4, 3), "日…");
    assert_string_equal(cut("日本語", 5, 5), "日本…");
    assert_string_equal(cut("abc", 1, 1), "…");
    assert_string_equal(cut("abc", 0, 0), "");
    assert_string_equal(cut("e\xcc\x81x", 2, 2), "e\xcc\x81x"); /* an accent takes no column */
}

TEST(figures_are_rounded_and_never_overflow) {
    char text[FIGURE_LIMIT];
    figure_percent(NS_PER_S, (int64_t)10 * NS_PER_S, text);
    assert_string_equal(text, "10.0");
    figure_percent(9996, (int64_t)10 * 1000 * 1000, text);
    assert_string_equal(text, "0.1");
    figure_percent(INT64_MAX, 1000, text);
    figure_percent(INT64_MAX, 1, text);
    figure_percent(INT64_MAX, INT64_MAX, text);
    assert_string_equal(text, "100.0");
    figure_seconds((int64_t)12345 * (NS_PER_S / 1000), text);
    assert_string_equal(text, "12.34");
    figure_seconds((int64_t)100000 * NS_PER_S, text);
    assert_string_equal(text, "100000");
    figure_duration(-5, text);
    assert_string_equal(text, "0.0 s");
    figure_duration((int64_t)9990 * NS_PER_MS, text);
    assert_string_equal(text, "9.9 s");
    figure_duration((int64_t)119 * NS_PER_S, text);
    assert_string_equal(text, "119 s");
    figure_duration((int64_t)180 * NS_PER_S, text);
    assert_string_equal(text, "3 min");
    figure_duration((int64_t)50 * 3600 * NS_PER_S, text);
    assert_string_equal(text, "2 days");
}

TEST(a_line_of_json_holds_nothing_that_a_terminal_obeys) {
    static struct host host = {.wanted = "db1", .health = HEALTH_OK, .answered_ns = 1};
    struct text out = text_growing(1 << 16);
    strcpy(host.answer.host, "a\xe2\x80\xae\xd8\x9c\xe2\x80\xa8\xc2\x9b\x7f\x1b\"\\\xffz");
    plain_add_json(&out, &host, 1, 2);
    text_add(&out, "", 1);
    assert_non_null(
        strstr(out.bytes, "\"a\\u202e\\u061c\\u2028\\u009b\\u007f\\u001b\\\"\\\\\\\\xffz\""));
    text_release(&out);
}

/* For any number of hosts and any window: all fit, and every host has a row. */
TEST(every_layout_is_within_the_window) {
    for (unsigned hosts = 1; hosts <= 64; hosts++)
        for (unsigned lines = 1; lines <= 120; lines += 7)
            for (unsigned columns = 1; columns <= 400; columns += 13) {
                struct layout layout = layout_make(hosts, lines, columns);
                unsigned gaps = (layout.columns - 1) * COLUMN_GAP;
                assert_true(layout.columns * layout.width + gaps <= columns);
                assert_true(layout.columns * layout.bands >= hosts);
                assert_true(layout.columns * (layout.bands - 1) < hosts);
                assert_in_range(layout.shown, 1, layout.bands);
                assert_true(layout.shown * layout.height <= lines);
                assert_in_range(layout.rows, 1, TOP_LIMIT);
                if (lines >= BAND_FRAME_LINES + 2)
                    assert_true(layout.rows + BAND_FRAME_LINES <= layout.height);
            }
    assert_int_equal(layout_make(2, 22, 80).columns, 2);
    assert_int_equal(layout_make(2, 22, 77).columns, 1);
    assert_int_equal(layout_make(4, 22, 120).columns, 2); /* two and two, not three and one */
}

/* The lines of a text, each ended with a bar. */
static const char *wrapped(const char *string, unsigned columns) {
    static char bytes[256];
    struct text out = text_fixed(bytes, sizeof bytes - 1);
    for (size_t left = strlen(string); left > 0;) {
        size_t length = clean_wrap(string, left, columns);
        text_add(&out, string, length);
        text_add(&out, "|", 1);
        length += string[length] == ' ';
        string += length;
        left -= length;
    }
    bytes[out.length] = '\0';
    return bytes;
}

TEST(text_is_wrapped_by_characters) {
    assert_string_equal(wrapped("ab cd ef", 5), "ab cd|ef|");
    assert_string_equal(wrapped("ab cd ef", 4), "ab|cd|ef|");
    assert_string_equal(wrapped("abcdef gh", 4), "abcd|ef|gh|");
    assert_string_equal(wrapped("éééééé é", 4), "éééé|éé é|");
    assert_string_equal(wrapped("日本語", 3), "日|本|語|");
    assert_string_equal(wrapped("日本語", 1), "日|本|語|");
    assert_string_equal(wrapped(" abcdef", 4), " abc|def|");
    assert_string_equal(wrapped("abc", 3), "abc|");
}

int main(void) {
    setenv("LC_ALL", "C.UTF-8", 1);
    clean_begin();
    return unit_run(NULL, NULL);
}

#include "unit.h"

#include "base/crc32.h"
#include "client/reply/reply.h"

#include <stdio.h>
#include <string.h>

#define HEAD "HTTP/1.1 200 OK\r\n"
#define LENGTH_11 HEAD "Content-Length: 11\r\n\r\n"
#define CHUNKED HEAD "Transfer-Encoding: chunked\r\n\r\n"
#define TO_END HEAD "\r\n"

static struct reply reply;

static uint32_t crc_of(const char *bytes) {
    return crc32_add(0, bytes, strlen(bytes));
}

TEST(the_crc_is_that_of_zlib_however_the_bytes_are_split) {
    static const char bytes[] = "The quick brown fox jumps over the lazy dog";
    crc32_prepare();
    assert_int_equal(crc_of("123456789"), 0xCBF43926);
    assert_int_equal(crc_of(""), 0);
    for (size_t first = 0; first < sizeof bytes; first++) {
        uint32_t crc = crc32_add(0, bytes, first);
        assert_int_equal(crc32_add(crc, bytes + first, sizeof bytes - 1 - first), 0x414FA339);
    }
}

/* Split in two at every position, then ended by the connection: always the same verdict. */
static void check(const char *bytes, const struct expectation *expectation, bool is_head,
                  enum verdict expected) {
    size_t length = strlen(bytes);
    for (size_t first = 1; first <= length; first++) {
        reply_begin(&reply, DIALECT_HTTP, 0, NULL);
        reply_to(&reply, 0, is_head);
        reply_expect(&reply, expectation, true);
        enum verdict verdict = reply_feed(&reply, bytes, first);
        if (verdict == REPLY_INCOMPLETE && first < length)
            verdict = reply_feed(&reply, bytes + first, length - first);
        if (verdict == REPLY_INCOMPLETE)
            verdict = reply_end(&reply);
        assert_int_equal(verdict, expected);
    }
}

static void assert_says(const char *expected) {
    char why[128] = "";
    struct text text = text_fixed(why, sizeof why - 1);
    expectation_explain(reply.expectation, reply.status, reply.body.taken, &text);
    assert_string_equal(why, expected);
}

/* With the length, in chunks and to the end of the connection. */
static void check_body(const char *body, const struct expectation *expectation,
                       enum verdict expected) {
    char bytes[256];
    snprintf(bytes, sizeof bytes, HEAD "Content-Length: %zu\r\n\r\n%s", strlen(body), body);
    check(bytes, expectation, false, expected);
    snprintf(bytes, sizeof bytes, CHUNKED "1\r\n%c\r\n%zx\r\n%s\r\n0\r\n\r\n", body[0],
             strlen(body) - 1, body + 1);
    check(bytes, expectation, false, expected);
    snprintf(bytes, sizeof bytes, TO_END "%s", body);
    check(bytes, expectation, false, expected);
}

TEST(a_body_has_the_bytes_that_it_had) {
    struct expectation expectation = {200, true, crc_of("hello world"), 11, 11, NULL, 0};
    check_body("hello world", &expectation, REPLY_COMPLETE);
    check_body("hello_world", &expectation, REPLY_CHANGED);
    assert_says("answered other bytes than before the race");
    expectation.has_digest = false;
    check_body("hello_world", &expectation, REPLY_COMPLETE);
}

TEST(what_varies_is_left_out) {
    static const struct byte_range varying[] = {{0, 2}, {4, 5}, {5, 6}, {9, 100}};
    struct expectation expectation = {200, true, crc_of("llwor"), 8, 20, varying, 4};
    check_body("hello world", &expectation, REPLY_COMPLETE);
    check_body("12ll45wor9", &expectation, REPLY_COMPLETE);
    check_body("heLlo world", &expectation, REPLY_CHANGED);
    check_body("hello wOrld", &expectation, REPLY_CHANGED);
}

TEST(a_body_is_as_long_as_it_was) {
    struct expectation expectation = {200, false, 0, 4000, 4000, NULL, 0};
    check_body("12", &expectation, REPLY_CHANGED);
    assert_says("answered 2 bytes instead of 4,000");
    check(HEAD "Content-Length: 1\r\n\r\n", &expectation, false, REPLY_CHANGED);
    assert_says("answered 1 byte instead of 4,000");
    expectation.low = 2;
    check_body("12", &expectation, REPLY_COMPLETE);
    check(HEAD "Content-Length: 1234567\r\n\r\n", &expectation, false, REPLY_CHANGED);
    assert_says("answered 1,234,567 bytes instead of 2 to 4,000");
}

TEST(a_status_is_the_one_that_it_was) {
    struct expectation expectation = {303, true, 0, 0, 0, NULL, 0};
    check("HTTP/1.1 303 See Other\r\nContent-Length: 0\r\n\r\n", &expectation, false,
          REPLY_COMPLETE);
    check("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 303 See Other\r\nContent-Length: 0\r\n\r\n",
          &expectation, false, REPLY_COMPLETE);
    check(HEAD "Content-Length: 0\r\n\r\n", &expectation, false, REPLY_CHANGED);
    assert_says("answered 200 instead of 303");
    expectation.status = 204;
    check("HTTP/1.1 204 No Content\r\n\r\n", &expectation, false, REPLY_COMPLETE);
    expectation.status = 200;
    check(HEAD "Content-Length: 9\r\n\r\n", &expectation, true, REPLY_COMPLETE);
    expectation.low = expectation.high = 9;
    check(HEAD "Content-Length: 9\r\n\r\n", &expectation, true, REPLY_CHANGED);
}

/* A head with a line of this length, its CR and LF included. */
static char *head_of(size_t line_length, const char *name) {
    static char bytes[2 * REPLY_HEAD_LIMIT];
    size_t at = (size_t)sprintf(bytes, HEAD "%s", name), end = strlen(HEAD) + line_length - 2;
    memset(bytes + at, 'a', end - at);
    sprintf(bytes + end, "\r\nContent-Length: 0\r\n\r\n");
    return bytes;
}

/* In one piece, and in pieces that meet the line's parts at different places. */
static void check_head(const char *bytes, enum verdict expected) {
    static const size_t PIECES[] = {SIZE_MAX, 1, 7, 1000, 1023, 1024, 1025, 16384};
    size_t length = strlen(bytes);
    for (size_t i = 0; i < sizeof PIECES / sizeof *PIECES; i++) {
        enum verdict verdict = REPLY_INCOMPLETE;
        reply_begin(&reply, DIALECT_HTTP, 0, NULL);
        for (size_t at = 0; at < length && verdict == REPLY_INCOMPLETE; at += PIECES[i]) {
            size_t piece = PIECES[i] < length - at ? PIECES[i] : length - at;
            verdict = reply_feed(&reply, bytes + at, piece);
            if (piece == length - at)
                break;
        }
        assert_int_equal(verdict, expected);
    }
}

TEST(a_head_may_have_64_KiB_and_lines_as_long) {
    const size_t rest = strlen(HEAD) + strlen("Content-Length: 0\r\n\r\n");
    for (size_t length = REPLY_LINE_LIMIT - 2; length < REPLY_LINE_LIMIT + 5; length++)
        check_head(head_of(length, "X: "), REPLY_COMPLETE);
    check_head(head_of(5000, "X: "), REPLY_COMPLETE);
    check_head(head_of(REPLY_HEAD_LIMIT - rest, "X: "), REPLY_COMPLETE);
    check_head(head_of(REPLY_HEAD_LIMIT - rest + 1, "X: "), REPLY_MALFORMED);
}

TEST(a_long_line_is_as_strict_as_a_short_one) {
    check_head(head_of(5000, "X Y: "), REPLY_MALFORMED);
    check_head(head_of(5000, "Content-Length: "), REPLY_MALFORMED);
    check_head(head_of(5000, "Connection: close, "), REPLY_MALFORMED);
    for (size_t at = 1000; at < 1100; at++) {
        char *bytes = head_of(2000, "X: ");
        bytes[at] = '\r';
        check_head(bytes, REPLY_MALFORMED);
        bytes[at] = '\x1b';
        check_head(bytes, REPLY_MALFORMED);
    }
    char *bytes = head_of(2000, "X: ");
    bytes[strlen(HEAD) + 2000 - 2] = 'a';
    check_head(bytes, REPLY_MALFORMED);
}

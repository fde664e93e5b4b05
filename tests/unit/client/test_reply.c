#include "unit.h"

#include "client/reply/reply.h"

#include <stdio.h>
#include <string.h>

#define TITLE "rank pid user_seconds system_seconds name\n"
#define ROWS                                                                                       \
    "1 4242 12.340000 1.250000 postgres: writer\n"                                                 \
    "2 7 0.500000 0.250000 sh\n"
#define LINE_REPLY TITLE ROWS "\n"
#define HTTP_OK "HTTP/1.1 200 OK\r\n"
#define HTTP_BODY TITLE ROWS
#define HTTP_LENGTH "Content-Length: 110\r\n"

static struct reply reply;

/* Feeds pieces of a size; bytes left after a verdict are surplus. */
static enum verdict feed(const char *bytes, size_t length, size_t first, size_t piece,
                         enum dialect dialect, uint32_t wanted, struct text *kept) {
    enum verdict verdict = REPLY_INCOMPLETE;
    reply_begin(&reply, dialect, wanted, kept);
    for (size_t at = 0; at < length;) {
        size_t size = at == 0 && first > 0 ? first : piece;
        size = size < length - at ? size : length - at;
        verdict = reply_feed(&reply, bytes + at, size);
        at += size;
        if (verdict == REPLY_MALFORMED)
            assert_non_null(reply.problem);
        if (verdict != REPLY_INCOMPLETE)
            return verdict == REPLY_COMPLETE && at < length ? REPLY_MALFORMED : verdict;
    }
    return verdict;
}

/* In one piece, byte by byte and split in two at every position: always the same verdict. */
static void check(const char *bytes, size_t length, enum dialect dialect, uint32_t wanted,
                  enum verdict expected) {
    assert_int_equal(feed(bytes, length, 0, length, dialect, wanted, NULL), expected);
    assert_int_equal(feed(bytes, length, 0, 1, dialect, wanted, NULL), expected);
    for (size_t first = 1; first < length && length < 4096; first++)
        assert_int_equal(feed(bytes, length, first, length, dialect, wanted, NULL), expected);
}

#define LINE(literal, verdict) check(literal, sizeof(literal) - 1, DIALECT_LINE, 2, verdict)
#define HTTP(literal, verdict) check(literal, sizeof(literal) - 1, DIALECT_HTTP, 2, verdict)
/* Any reply of any server. */
#define ANY(literal, verdict) check(literal, sizeof(literal) - 1, DIALECT_HTTP, 0, verdict)
#define LINES(literal, verdict) check(literal, sizeof(literal) - 1, DIALECT_LINE, 0, verdict)
#define CHUNKED HTTP_OK "Transfer-Encoding: chunked\r\n\r\n"
#define ROW(literal, verdict) LINE(TITLE literal "\n\n", verdict)

TEST(a_reply_of_the_line_dialect_is_complete_at_its_empty_line) {
    LINE(LINE_REPLY, REPLY_COMPLETE);
    LINE(TITLE ROWS, REPLY_INCOMPLETE);
    LINE(TITLE, REPLY_INCOMPLETE);
    LINE("", REPLY_INCOMPLETE);
}

/* Like `check`, after the answer to a token. */
static void check_after_token(const char *bytes, enum verdict expected) {
    size_t length = strlen(bytes);
    for (size_t first = 1; first <= length; first++) {
        reply_begin(&reply, DIALECT_LINE, 2, NULL);
        reply_after_token(&reply);
        enum verdict verdict = reply_feed(&reply, bytes, first);
        if (verdict == REPLY_INCOMPLETE && first < length)
            verdict = reply_feed(&reply, bytes + first, length - first);
        assert_int_equal(verdict, expected);
    }
}

TEST(the_reply_follows_the_ok_to_the_token) {
    check_after_token("ok\n\n" LINE_REPLY, REPLY_COMPLETE);
    check_after_token("ok\n\n" TITLE ROWS, REPLY_INCOMPLETE);
    check_after_token("ok\n", REPLY_INCOMPLETE);
    check_after_token("ok\n" LINE_REPLY, REPLY_MALFORMED);
    check_after_token("OK\n\n" LINE_REPLY, REPLY_MALFORMED);
    check_after_token(LINE_REPLY, REPLY_MALFORMED);
    check_after_token("error: wrong token\n", REPLY_REFUSED);
    check_after_token("HTTP/1.1 403 Forbidden\r\n", REPLY_REFUSED);
    LINE("ok\n\n" LINE_REPLY, REPLY_MALFORMED);
}

TEST(fewer_rows_than_requested_are_valid_and_more_are_not) {
    LINE(TITLE "1 4242 12.340000 1.250000 a\n\n", REPLY_COMPLETE);
    LINE(TITLE ROWS "3 8 0.100000 0.000000 a\n\n", REPLY_MALFORMED);
    LINE(TITLE "\n", REPLY_MALFORMED);
}

#define REST "- - 1000.500000 0.000000 (everything else)\n"
#define SOURCE "# source procfs (as asked), 75 tasks, 0 lost, taken 2026-11-21T13:20:01.123Z\n"

/* The lines that only our server adds: both or none, and nothing after them. */
TEST(everything_else_and_the_source_may_follow_the_rows) {
    LINE(TITLE ROWS REST SOURCE "\n", REPLY_COMPLETE);
    HTTP(HTTP_OK "Content-Length: 230\r\n\r\n" TITLE ROWS REST SOURCE, REPLY_COMPLETE);
    HTTP(HTTP_OK "Content-Length: 153\r\n\r\n" TITLE ROWS REST, REPLY_MALFORMED);
    LINE(TITLE ROWS REST SOURCE, REPLY_INCOMPLETE);
    LINE(TITLE ROWS REST "\n", REPLY_MALFORMED);
    LINE(TITLE ROWS SOURCE "\n", REPLY_MALFORMED);
    LINE(TITLE REST SOURCE "\n", REPLY_MALFORMED);
    LINE(TITLE ROWS REST REST SOURCE "\n", REPLY_MALFORMED);
    LINE(TITLE ROWS REST SOURCE SOURCE "\n", REPLY_MALFORMED);
    LINE(TITLE "1 7 1.000000 1.000000 a\n" REST SOURCE "2 8 1.000000 0.000000 a\n\n",
         REPLY_MALFORMED);
    LINE(TITLE ROWS "- - -1.000000 0.000000 (everything else)\n" SOURCE "\n", REPLY_MALFORMED);
    LINE(TITLE ROWS "- - 1.000000 0.000000 everything else\n" SOURCE "\n", REPLY_MALFORMED);
    LINE(TITLE ROWS REST "# source \x1b[2J\n\n", REPLY_MALFORMED);
}

TEST(garbage_is_malformed) {
    LINE("hello\n", REPLY_MALFORMED);
    LINE("\n", REPLY_MALFORMED);
    LINE("rank pid user_seconds system_seconds name\r\n", REPLY_MALFORMED);
    LINE("rank pid user_seconds system_seconds\n", REPLY_MALFORMED);
    LINE(LINE_REPLY "x", REPLY_MALFORMED);
    LINE("\0\0\0\n", REPLY_MALFORMED);
}

TEST(the_ranks_count_from_one) {
    ROW("0 7 1.000000 1.000000 a", REPLY_MALFORMED);
    ROW("2 7 1.000000 1.000000 a", REPLY_MALFORMED);
    ROW("01 7 1.000000 1.000000 a", REPLY_MALFORMED);
    ROW("1 7 1.000000 1.000000 a\n1 8 1.000000 1.000000 a", REPLY_MALFORMED);
    ROW("x 7 1.000000 1.000000 a", REPLY_MALFORMED);
    ROW("99999999999999999999999999999999 7 1.000000 1.000000 a", REPLY_MALFORMED);
}

TEST(a_pid_is_a_positive_number) {
    ROW("1 0 1.000000 1.000000 a", REPLY_MALFORMED);
    ROW("1 -7 1.000000 1.000000 a", REPLY_MALFORMED);
    ROW("1  7 1.000000 1.000000 a", REPLY_MALFORMED);
    ROW("1 2147483648 1.000000 1.000000 a", REPLY_MALFORMED);
    ROW("1 2147483647 1.000000 1.000000 a", REPLY_COMPLETE);
}

TEST(times_have_six_decimals) {
    ROW("1 7 1.00000 1.000000 a", REPLY_MALFORMED);
    ROW("1 7 1.0000000 1.000000 a", REPLY_MALFORMED);
    ROW("1 7 1 1.000000 a", REPLY_MALFORMED);
    ROW("1 7 .000000 1.000000 a", REPLY_MALFORMED);
    ROW("1 7 -1.000000 1.000000 a", REPLY_MALFORMED);
    ROW("1 7 1,000000 1.000000 a", REPLY_MALFORMED);
    ROW("1 7 00.000000 1.000000 a", REPLY_MALFORMED);
    ROW("1 7 1.000000 1.00000x a", REPLY_MALFORMED);
    ROW("1 7 999999999999999.000000 1.000000 a", REPLY_MALFORMED);
    ROW("1 7 3153600000.123456 0.000000 a", REPLY_COMPLETE);
}

TEST(rows_come_in_order_of_cpu_time) {
    ROW("1 7 1.000000 0.000000 a\n2 8 0.500000 0.500003 b", REPLY_MALFORMED);
    ROW("1 7 1.000000 0.000000 a\n2 8 0.500000 0.500000 b", REPLY_COMPLETE);
}

/* What a reply of rows with these pids tells. */
static uint16_t digest_of(const char *rows) {
    char bytes[512];
    int length = snprintf(bytes, sizeof bytes, TITLE "%s\n", rows);
    assert_int_equal(feed(bytes, (size_t)length, 0, 1, DIALECT_LINE, 2, NULL), REPLY_COMPLETE);
    return rows_pids_digest(&reply.rows);
}

TEST(the_pids_digest_ignores_order_and_times) {
    uint16_t digest = digest_of("1 7 1.000000 0.000000 a\n2 8 0.500000 0.500000 b\n");
    assert_int_equal(digest_of("1 8 9.000000 0.000000 b\n2 7 0.100000 0.100000 a\n"), digest);
    assert_int_not_equal(digest_of("1 7 1.000000 0.000000 a\n2 9 0.500000 0.500000 b\n"), digest);
    assert_int_not_equal(digest_of("1 7 1.000000 0.000000 a\n"), digest);
    assert_int_not_equal(digest_of("1 7 1.000000 0.000000 a\n"), 0);
}

/* Processes that were started one after the other have such pids. */
TEST(pairs_of_pids_with_the_same_sum_have_different_digests) {
    static bool seen[UINT16_MAX + 1];
    int different = 0;
    for (int pid = 1; pid < 500; pid++) {
        char rows[128];
        snprintf(rows, sizeof rows, "1 %d 1.000000 0.000000 a\n2 %d 0.500000 0.500000 b\n", pid,
                 1000 - pid);
        uint16_t digest = digest_of(rows);
        different += !seen[digest];
        seen[digest] = true;
    }
    assert_in_range(different, 490, 499); /* by chance 2 pairs are alike */
}

TEST(a_reply_without_rows_has_no_digest) {
    ANY(HTTP_OK "Content-Length: 5\r\n\r\nhello", REPLY_COMPLETE);
    assert_int_equal(rows_pids_digest(&reply.rows), 0);
}

TEST(a_name_is_escaped) {
    ROW("1 7 1.000000 1.000000 ", REPLY_COMPLETE);
    ROW("1 7 1.000000 1.000000", REPLY_MALFORMED);
    ROW("1 7 1.000000 1.000000 a) R 1 \"b'", REPLY_COMPLETE);
    ROW("1 7 1.000000 1.000000 \\n\\t\\r\\\\\\x1b", REPLY_COMPLETE);
    ROW("1 7 1.000000 1.000000 gr\xc3\xbc\xc3\x9f", REPLY_COMPLETE);
    ROW("1 7 1.000000 1.000000 \x1b[31m", REPLY_MALFORMED);
    ROW("1 7 1.000000 1.000000 a\tb", REPLY_MALFORMED);
    ROW("1 7 1.000000 1.000000 a\rb", REPLY_MALFORMED);
    ROW("1 7 1.000000 1.000000 a\0b", REPLY_MALFORMED);
    ROW("1 7 1.000000 1.000000 \x7f", REPLY_MALFORMED);
    ROW("1 7 1.000000 1.000000 \xff", REPLY_MALFORMED);
    ROW("1 7 1.000000 1.000000 \xc2\x9b", REPLY_MALFORMED);
    ROW("1 7 1.000000 1.000000 \xe2\x82", REPLY_MALFORMED);
    ROW("1 7 1.000000 1.000000 \\q", REPLY_MALFORMED);
    ROW("1 7 1.000000 1.000000 \\", REPLY_MALFORMED);
    ROW("1 7 1.000000 1.000000 \\x1", REPLY_MALFORMED);
    ROW("1 7 1.000000 1.000000 \\xZZ", REPLY_MALFORMED);
}

TEST(a_line_without_end_is_malformed_at_the_limit) {
    char line[2 * REPLY_LINE_LIMIT];
    memset(line, 'a', sizeof line);
    check(line, REPLY_LINE_LIMIT, DIALECT_LINE, 2, REPLY_INCOMPLETE);
    check(line, REPLY_LINE_LIMIT + 1, DIALECT_LINE, 2, REPLY_MALFORMED);
    line[sizeof line - 1] = '\n';
    check(line, sizeof line, DIALECT_LINE, 2, REPLY_MALFORMED);
    check(line, sizeof line, DIALECT_HTTP, 2, REPLY_MALFORMED);
}

TEST(an_error_reply_is_refused_and_its_text_is_kept) {
    LINE("error: no such request\n\n", REPLY_REFUSED);
    assert_int_equal(reply.line_length, strlen("error: no such request"));
    assert_memory_equal(reply.line, "error: no such request", reply.line_length);
    LINE("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n", REPLY_REFUSED);
    assert_memory_equal(reply.line, "HTTP/1.1 503 Service Unavailable", reply.line_length);
    LINE("HTTP/1.1 200 OK\r\n", REPLY_MALFORMED);
    LINE("error: cut", REPLY_INCOMPLETE);
    HTTP("HTTP/1.1 404 Not Found\r\nContent-Length: 10\r\n\r\nnot found\n", REPLY_REFUSED);
    HTTP("HTTP/1.1 301 Moved\r\n\r\n", REPLY_REFUSED);
    HTTP("error: no\n\n", REPLY_MALFORMED);
}

TEST(a_reply_in_http_is_complete_at_its_content_length) {
    assert_int_equal(strlen(HTTP_BODY), 110);
    HTTP(HTTP_OK HTTP_LENGTH "\r\n" HTTP_BODY, REPLY_COMPLETE);
    HTTP(HTTP_OK "content-length:110 \r\nX: \t y\r\n\r\n" HTTP_BODY, REPLY_COMPLETE);
    HTTP(HTTP_OK HTTP_LENGTH "\r\n" TITLE, REPLY_INCOMPLETE);
    HTTP(HTTP_OK HTTP_LENGTH, REPLY_INCOMPLETE);
    HTTP(HTTP_OK HTTP_LENGTH "\r\n" HTTP_BODY "\n", REPLY_MALFORMED);
    HTTP(HTTP_OK "Content-Length: 109\r\n\r\n" HTTP_BODY, REPLY_MALFORMED);
    HTTP(HTTP_OK "Content-Length: 111\r\n\r\n" HTTP_BODY "\n", REPLY_MALFORMED);
    HTTP(HTTP_OK "Content-Length: 5\r\n\r\nhello", REPLY_MALFORMED);
    HTTP(HTTP_OK "Content-Length: 42\r\n\r\n" TITLE, REPLY_MALFORMED);
}

TEST(a_head_that_is_not_http_is_malformed) {
    HTTP("HTTP/2 200 OK\r\n", REPLY_MALFORMED);
    HTTP("HTTP/1.1 20 OK\r\n", REPLY_MALFORMED);
    HTTP("HTTP/1.1 2000 OK\r\n", REPLY_MALFORMED);
    HTTP("HTTP/1.1 200 OK\n", REPLY_MALFORMED);
    HTTP(LINE_REPLY, REPLY_MALFORMED);
    HTTP(HTTP_OK "Content-Length\r\n", REPLY_MALFORMED);
    HTTP(HTTP_OK "Content Length: 110\r\n", REPLY_MALFORMED);
    HTTP(HTTP_OK ": 110\r\n", REPLY_MALFORMED);
    HTTP(HTTP_OK " folded: 110\r\n", REPLY_MALFORMED);
    HTTP(HTTP_OK "Content-Length: 110\n", REPLY_MALFORMED);
    HTTP(HTTP_OK "X: a\x1b"
                 "b\r\n",
         REPLY_MALFORMED);
    HTTP(HTTP_OK "\r\n", REPLY_MALFORMED);
    HTTP(HTTP_OK "Content-Length: 0\r\n\r\n", REPLY_MALFORMED);
    HTTP(HTTP_OK "Content-Length: -1\r\n", REPLY_MALFORMED);
    HTTP(HTTP_OK "Content-Length: 110, 110\r\n", REPLY_MALFORMED);
    HTTP(HTTP_OK HTTP_LENGTH HTTP_LENGTH, REPLY_MALFORMED);
    HTTP(HTTP_OK "Content-Length: 99999999999\r\n", REPLY_MALFORMED);
    HTTP(HTTP_OK "Transfer-Encoding: chunked\r\n", REPLY_MALFORMED);
}

TEST(a_head_without_end_is_malformed_at_the_limit) {
    enum verdict verdict = REPLY_INCOMPLETE;
    size_t lines = 0;
    reply_begin(&reply, DIALECT_HTTP, 2, NULL);
    assert_int_equal(reply_feed(&reply, HTTP_OK, strlen(HTTP_OK)), REPLY_INCOMPLETE);
    for (; verdict == REPLY_INCOMPLETE && lines < REPLY_HEAD_LIMIT; lines++)
        verdict = reply_feed(&reply, "A: b\r\n", 6);
    assert_int_equal(verdict, REPLY_MALFORMED);
    assert_true(lines <= REPLY_HEAD_LIMIT / 6);
}

static void assert_close(const char *bytes, bool expected) {
    check(bytes, strlen(bytes), DIALECT_HTTP, 2, REPLY_COMPLETE);
    assert_int_equal(reply.head.close, expected);
}

TEST(a_server_says_whether_it_keeps_the_connection) {
    assert_close(HTTP_OK HTTP_LENGTH "\r\n" HTTP_BODY, false);
    assert_close(HTTP_OK HTTP_LENGTH "Connection: close\r\n\r\n" HTTP_BODY, true);
    assert_close(HTTP_OK HTTP_LENGTH "connection: x , CLOSE\r\n\r\n" HTTP_BODY, true);
    assert_close("HTTP/1.0 200 OK\r\n" HTTP_LENGTH "\r\n" HTTP_BODY, true);
    assert_close("HTTP/1.0 200 OK\r\n" HTTP_LENGTH "Connection: keep-alive\r\n\r\n" HTTP_BODY,
                 false);
}

TEST(an_unchecked_body_ends_at_its_content_length) {
    ANY(HTTP_OK "Content-Length: 5\r\n\r\nhello", REPLY_COMPLETE);
    ANY(HTTP_OK "Content-Length: 5\r\n\r\n\r\n\0\n\xff", REPLY_COMPLETE);
    ANY(HTTP_OK "Content-Length: 0\r\n\r\n", REPLY_COMPLETE);
    ANY(HTTP_OK "Content-Length: 99999999\r\n\r\nhello", REPLY_INCOMPLETE);
    ANY(HTTP_OK "Content-Length: 4\r\n\r\nhello", REPLY_MALFORMED);
    ANY(HTTP_OK "Content-Length: 0\r\n\r\nh", REPLY_MALFORMED);
    ANY(HTTP_OK "Content-Length: x\r\n\r\nh", REPLY_MALFORMED);
    ANY("HTTP/1.1 404 Not Found\r\n", REPLY_REFUSED);
}

TEST(an_unchecked_body_ends_with_its_last_chunk) {
    ANY(CHUNKED "5\r\nhello\r\n0\r\n\r\n", REPLY_COMPLETE);
    ANY(CHUNKED "0\r\n\r\n", REPLY_COMPLETE);
    ANY(CHUNKED "000A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", REPLY_COMPLETE);
    ANY(CHUNKED "5;a=\"b\"\r\nhello\r\n0 ; c\r\nA: b\r\nC: d\r\n\r\n", REPLY_COMPLETE);
    ANY(CHUNKED "2\r\n\r\n\r\n0\r\n\r\n", REPLY_COMPLETE);
    ANY(CHUNKED "5\r\nhello\r\n0\r\n", REPLY_INCOMPLETE);
    ANY(CHUNKED "5\r\nhello\r\n0\r\nA: b\r\n", REPLY_INCOMPLETE);
    ANY(CHUNKED "5\r\nhello\r\n", REPLY_INCOMPLETE);
    ANY(CHUNKED "4\r\nhello\r\n0\r\n\r\n", REPLY_MALFORMED);
    ANY(CHUNKED "6\r\nhello\r\n0\r\n\r\n", REPLY_MALFORMED);
    ANY(CHUNKED "5\nhello\r\n0\r\n\r\n", REPLY_MALFORMED);
    ANY(CHUNKED "5\r\nhello\n0\r\n\r\n", REPLY_MALFORMED);
    ANY(CHUNKED "\r\nhello\r\n0\r\n\r\n", REPLY_MALFORMED);
    ANY(CHUNKED ";5\r\nhello\r\n0\r\n\r\n", REPLY_MALFORMED);
    ANY(CHUNKED "-5\r\nhello\r\n0\r\n\r\n", REPLY_MALFORMED);
    ANY(CHUNKED "0x5\r\nhello\r\n0\r\n\r\n", REPLY_MALFORMED);
    ANY(CHUNKED "ffffffffffffffff\r\nhello", REPLY_MALFORMED);
    ANY(CHUNKED "0\r\n\r\nx", REPLY_MALFORMED);
    ANY(HTTP_OK "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", REPLY_MALFORMED);
    ANY(HTTP_OK "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        REPLY_MALFORMED);
}

TEST(lines_between_chunks_are_limited) {
    static const char *const BEGINNINGS[] = {CHUNKED "5;", CHUNKED "0\r\nA: "};
    for (int i = 0; i < 2; i++) {
        enum verdict verdict = REPLY_INCOMPLETE;
        int fed = 0;
        reply_begin(&reply, DIALECT_HTTP, 0, NULL);
        assert_int_equal(reply_feed(&reply, BEGINNINGS[i], strlen(BEGINNINGS[i])),
                         REPLY_INCOMPLETE);
        for (; verdict == REPLY_INCOMPLETE && fed < 10000; fed++)
            verdict = reply_feed(&reply, "a", 1);
        assert_int_equal(verdict, REPLY_MALFORMED);
        assert_true(fed <= 1025);
    }
}

TEST(unchecked_lines_end_with_an_empty_line_or_the_connection) {
    LINES("one\n two\n\n", REPLY_COMPLETE);
    LINES(LINE_REPLY, REPLY_COMPLETE);
    LINES("one\r\n\r\n", REPLY_COMPLETE);
    LINES("one\n\ntwo\n", REPLY_MALFORMED);
    LINES("\n", REPLY_MALFORMED);
    LINES("error: not today\n", REPLY_REFUSED);
    LINES("HTTP/1.1 503 Service Unavailable\r\n", REPLY_REFUSED);
    LINES("one\nerror: two\n\n", REPLY_COMPLETE);
    const char *open_end = "one\ntwo";
    for (size_t length = 0; length <= strlen(open_end); length++) {
        feed(open_end, length, 0, length > 0 ? length : 1, DIALECT_LINE, 0, NULL);
        assert_false(reply.head.close);
        assert_int_equal(reply_end(&reply), length > 0 ? REPLY_COMPLETE : REPLY_INCOMPLETE);
        assert_int_equal(reply.head.close, length > 0);
    }
}

/* A reply may be ended by its connection, and then only by that. */
TEST(an_unchecked_body_may_end_with_its_connection) {
    const char *open_end = HTTP_OK "X: y\r\n\r\nhello\r\n\r\n";
    ANY(HTTP_OK "X: y\r\n\r\nhello\r\n\r\n", REPLY_INCOMPLETE);
    for (size_t length = 0; length <= strlen(open_end); length++) {
        feed(open_end, length, 0, length > 0 ? length : 1, DIALECT_HTTP, 0, NULL);
        bool head_is_whole = length >= strlen(HTTP_OK "X: y\r\n\r\n");
        assert_int_equal(reply_end(&reply), head_is_whole ? REPLY_COMPLETE : REPLY_INCOMPLETE);
    }
    assert_true(reply.head.close);
    ANY(CHUNKED "5\r\nhello\r\n", REPLY_INCOMPLETE);
    assert_int_equal(reply_end(&reply), REPLY_INCOMPLETE);
    ANY(HTTP_OK "Content-Length: 5\r\n\r\nhell", REPLY_INCOMPLETE);
    assert_int_equal(reply_end(&reply), REPLY_INCOMPLETE);
    HTTP(HTTP_OK HTTP_LENGTH "\r\n" TITLE, REPLY_INCOMPLETE);
    assert_int_equal(reply_end(&reply), REPLY_INCOMPLETE);
    HTTP(HTTP_OK "\r\n" HTTP_BODY, REPLY_MALFORMED); /* where rows are wanted, it must not */
    LINE(TITLE ROWS, REPLY_INCOMPLETE);
    assert_int_equal(reply_end(&reply), REPLY_INCOMPLETE);
}

TEST(an_unchecked_body_is_kept_without_its_framing) {
    char space[512];
    const char *chunked = CHUNKED "5\r\nhello\r\n6;x\r\n world\r\n0\r\nA: b\r\n\r\n";
    for (size_t piece = 1; piece <= strlen(chunked); piece++) {
        struct text kept = text_fixed(space, sizeof space);
        feed(chunked, strlen(chunked), 0, piece, DIALECT_HTTP, 0, &kept);
        assert_int_equal(kept.length, strlen("hello world"));
        assert_memory_equal(space, "hello world", kept.length);
    }
}

TEST(the_body_is_kept_for_showing) {
    char space[512];
    const char *http = HTTP_OK HTTP_LENGTH "\r\n" HTTP_BODY;
    for (size_t piece = 1; piece <= strlen(http); piece++) {
        struct text kept = text_fixed(space, sizeof space);
        feed(http, strlen(http), 0, piece, DIALECT_HTTP, 2, &kept);
        assert_int_equal(kept.length, strlen(HTTP_BODY));
        assert_memory_equal(space, HTTP_BODY, kept.length);
    }
    struct text kept = text_fixed(space, sizeof space);
    feed(LINE_REPLY, strlen(LINE_REPLY), 0, 7, DIALECT_LINE, 2, &kept);
    assert_int_equal(kept.length, strlen(LINE_REPLY));
    assert_memory_equal(space, LINE_REPLY, kept.length);
}

static uint16_t status_wanted;

/* The reply to a request of a file: in one piece and byte by byte. */
static void check_listed(const char *bytes, bool is_head, enum verdict expected) {
    const size_t length = strlen(bytes);
    for (size_t piece = 1; piece <= length; piece += length - 1) {
        enum verdict verdict = REPLY_INCOMPLETE;
        size_t at = 0;
        reply_begin(&reply, DIALECT_HTTP, 0, NULL);
        reply_to(&reply, status_wanted, is_head);
        for (; at < length && verdict == REPLY_INCOMPLETE; at += piece)
            verdict = reply_feed(&reply, bytes + at, piece < length - at ? piece : length - at);
        if (verdict == REPLY_COMPLETE && at < length)
            verdict = REPLY_MALFORMED;
        assert_int_equal(verdict, expected);
    }
}

TEST(any_success_answers_a_listed_request) {
    check_listed("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok", false, REPLY_COMPLETE);
    check_listed("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n", false, REPLY_REFUSED);
    check_listed("HTTP/1.1 101 Switching Protocols\r\n\r\n", false, REPLY_REFUSED);
    check_listed("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", true, REPLY_REFUSED);
    HTTP("HTTP/1.1 201 Created\r\n" HTTP_LENGTH "\r\n" HTTP_BODY, REPLY_REFUSED);
}

TEST(a_request_may_want_one_status) {
    status_wanted = 303;
    check_listed("HTTP/1.1 303 See Other\r\nContent-Length: 2\r\n\r\nok", false, REPLY_COMPLETE);
    check_listed("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false, REPLY_REFUSED);
    check_listed("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 303 See Other\r\nContent-Length: "
                 "0\r\n\r\n",
                 false, REPLY_COMPLETE);
    status_wanted = 0;
}

TEST(some_replies_have_no_body) {
    check_listed("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", true, REPLY_COMPLETE);
    check_listed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", true, REPLY_COMPLETE);
    check_listed("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", true, REPLY_MALFORMED);
    check_listed("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", false, REPLY_INCOMPLETE);
    check_listed("HTTP/1.1 204 No Content\r\n\r\n", false, REPLY_COMPLETE);
    check_listed("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", false, REPLY_COMPLETE);
    assert_false(reply.head.close);
}

TEST(an_interim_reply_precedes_the_reply) {
    check_listed("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
                 false, REPLY_COMPLETE);
    check_listed("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", false, REPLY_INCOMPLETE);
    HTTP("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" HTTP_OK HTTP_LENGTH "\r\n" HTTP_BODY,
         REPLY_COMPLETE);
}

#include "unit.h"

#include "client/reply/known_reply.h"

#include <stdio.h>
#include <string.h>

#define ROWS                                                                                       \
    "rank pid user_seconds system_seconds name\n"                                                  \
    "1 4242 12.340000 1.250000 postgres: writer\n"
#define RIGHT "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 85\r\n\r\n" ROWS

static const char question[] = "GET /top", other_question[] = "GET /";

static struct known_reply known;
static struct reply reply;

/* In one piece, to the end of the bytes. */
static enum verdict feed(const char *asked, const char *bytes) {
    reply_begin(&reply, DIALECT_HTTP, 2, NULL);
    return known_reply_feed(&known, asked, &reply, bytes, strlen(bytes));
}

static enum verdict feed_any(const char *bytes) {
    reply_begin(&reply, DIALECT_HTTP, 0, NULL);
    return known_reply_feed(&known, question, &reply, bytes, strlen(bytes));
}

/* Makes wrong bytes known, so that the verdict shows whether they are read. */
static void falsify(const char *bytes) {
    known.length = (uint32_t)strlen(bytes);
    memcpy(known.bytes, bytes, known.length);
}

TEST(a_known_reply_is_not_read_again) {
    assert_int_equal(feed(question, RIGHT), REPLY_COMPLETE);
    falsify("no reply\n");
    assert_int_equal(feed(question, "no reply\n"), REPLY_COMPLETE);
    assert_int_equal(feed(question, "no reply\n\n"), REPLY_MALFORMED);
    assert_int_equal(feed(question, "no Reply\n"), REPLY_MALFORMED);
    assert_int_equal(feed(other_question, "no reply\n"), REPLY_MALFORMED);
}

TEST(a_known_reply_leaves_what_reading_it_would) {
    known.question = NULL;
    assert_int_equal(feed(question, RIGHT), REPLY_COMPLETE);
    uint16_t digest = rows_pids_digest(&reply.rows);
    memset(&reply, 0, sizeof reply);
    assert_int_equal(feed(question, RIGHT), REPLY_COMPLETE);
    assert_true(reply.head.close);
    assert_int_equal(reply.status, 200);
    assert_int_equal(rows_pids_digest(&reply.rows), digest);
    assert_int_not_equal(digest, 0);
}

TEST(only_right_and_whole_replies_become_known) {
    static const char *const UNKNOWN[] = {
        "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", /* refused */
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n12",                /* malformed */
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n12",                /* more is to come */
    };
    for (size_t i = 0; i < sizeof UNKNOWN / sizeof *UNKNOWN; i++) {
        known.question = NULL;
        assert_int_not_equal(feed_any(UNKNOWN[i]), REPLY_COMPLETE);
        assert_null(known.question);
    }
}

TEST(a_reply_that_is_too_long_is_right_but_not_known) {
    static char bytes[KNOWN_REPLY_LIMIT + 2];
    for (size_t excess = 0; excess < 2; excess++) {
        known.question = NULL;
        memset(bytes, 'x', sizeof bytes);
        int head = snprintf(bytes, 64, "HTTP/1.1 200 OK\r\nContent-Length: %4zu\r\n\r\n",
                            KNOWN_REPLY_LIMIT + excess - 41);
        assert_int_equal(head, 41);
        bytes[head] = 'x';
        bytes[KNOWN_REPLY_LIMIT + excess] = '\0';
        assert_int_equal(feed_any(bytes), REPLY_COMPLETE);
        assert_int_equal(known.question == NULL, excess);
    }
}

/* Each is to look at every byte. */
TEST(a_reply_that_is_shown_or_digested_is_read) {
    static const char BYTES[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    static const struct expectation expected = {.status = 200, .has_digest = true, .digest = 1};
    char shown[8];
    struct text body = text_fixed(shown, sizeof shown);
    assert_int_equal(feed_any(BYTES), REPLY_COMPLETE);
    reply_begin(&reply, DIALECT_HTTP, 0, &body);
    assert_int_equal(known_reply_feed(&known, question, &reply, BYTES, strlen(BYTES)),
                     REPLY_COMPLETE);
    assert_int_equal(body.length, 2);
    reply_begin(&reply, DIALECT_HTTP, 0, NULL);
    reply_expect(&reply, &expected, true);
    assert_int_equal(known_reply_feed(&known, question, &reply, BYTES, strlen(BYTES)),
                     REPLY_CHANGED);
}

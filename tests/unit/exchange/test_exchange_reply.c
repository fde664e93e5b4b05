/* Replies that are rendered directly into the output. */
#include "exchange_play.h"

static void take_in(struct play *play, const char *asked) {
    struct span space = exchange_space(&play->exchange);
    assert_true(strlen(asked) <= space.length);
    memcpy(space.bytes, asked, strlen(asked));
    exchange_received(&play->exchange, strlen(asked));
}

/* The output for the requests `asked`, each answered with a body in pieces, behind other pending
 * replies. */
static void reply_in_place(struct play *play, const char *asked) {
    struct request request;
    exchange_open(&play->exchange, &buffers);
    take_in(play, asked);
    while (exchange_next(&play->exchange, &request)) {
        struct text *body = exchange_begin_reply(&play->exchange);
        for (unsigned row = 0; row < request.rows; row++)
            text_addf(body, "row %u\n", row);
        exchange_end_reply(&play->exchange, &request, STATUS_OK);
    }
    answer_and_send(play, 4096);
    strip_dates(play);
    exchange_close(&play->exchange);
}

TEST(a_reply_is_written_where_it_is_sent_from) {
    static struct play play;
    play.output_length = 0;
    reply_in_place(&play, "top 2\ntop 1\n");
    assert_string_equal(play.output, "row 0\nrow 1\n\nrow 0\n\n");
    play.output_length = 0;
    reply_in_place(&play, "GET /top?n=1 HTTP/1.1\r\nHost: h\r\n\r\n"
                          "HEAD /top?n=2 HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_string_equal(play.output, OK_HEAD "6\r\n\r\nrow 0\n" OK_HEAD "12\r\n\r\n");
}

/* The client would take half a reply for a whole one, and the next for this one. */
TEST(a_reply_for_which_no_memory_was_left_ends_the_conversation) {
    static struct play play;
    struct request request;
    play.output_length = 0;
    exchange_open(&play.exchange, &buffers);
    take_in(&play, "top 1\ntop 2\ntop 3\n");
    assert_true(exchange_next(&play.exchange, &request));
    answer(&play, &request);
    assert_true(exchange_next(&play.exchange, &request));
    struct text *body = exchange_begin_reply(&play.exchange);
    text_add_string(body, "half of it");
    body->overflow = true;
    exchange_end_reply(&play.exchange, &request, STATUS_OK);
    answer_and_send(&play, 4096);
    strip_dates(&play);
    assert_string_equal(play.output, "top 1 text\n\n");
    assert_true(exchange_is_done(&play.exchange));
    exchange_close(&play.exchange);
}

/* As for a server that stops. */
static void answer_as_last(struct play *play) {
    struct request request;
    assert_true(exchange_next(&play->exchange, &request));
    exchange_make_last(&play->exchange);
    answer(play, &request);
}

TEST(only_the_reply_to_all_that_has_arrived_is_made_the_last) {
    static struct play play;
    static const char asked[] = "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n";
    play.output_length = 0;
    exchange_open(&play.exchange, &buffers);
    take_in(&play, asked);
    take_in(&play, asked);
    answer_as_last(&play);
    play.exchange.is_followed = true;
    answer_as_last(&play);
    answer_and_send(&play, 4096);
    assert_false(exchange_is_done(&play.exchange));
    take_in(&play, asked);
    play.exchange.is_followed = false;
    answer_as_last(&play);
    answer_and_send(&play, 4096);
    strip_dates(&play);
    assert_string_equal(play.output, OK_HEAD "3\r\n\r\nok\n" OK_HEAD "3\r\n\r\nok\n" OK_HEAD
                                             "3\r\nConnection: close\r\n\r\nok\n");
    assert_true(exchange_is_done(&play.exchange));
    exchange_close(&play.exchange);
}

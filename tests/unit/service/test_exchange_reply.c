/* Replies that are rendered directly into the output. */
#include "exchange_play.h"

#include "service/exchange/http_reply.h"

static void ask(struct exchange *exchange, const char *asked) {
    struct span space = exchange_space(exchange);
    memcpy(space.bytes, asked, strlen(asked));
    exchange_received(exchange, strlen(asked));
}

/* The output for the requests `asked`, each answered with a body in pieces, behind other pending
 * replies. */
static void reply_in_place(struct play *play, const char *asked) {
    struct request request;
    exchange_open(&play->exchange, &buffers, NULL);
    ask(&play->exchange, asked);
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

TEST(a_reply_is_rendered_in_the_output) {
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
TEST(a_reply_without_memory_closes_the_exchange) {
    static struct play play;
    struct request request;
    play.output_length = 0;
    exchange_open(&play.exchange, &buffers, NULL);
    ask(&play.exchange, "top 1\ntop 2\ntop 3\n");
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

static void reply_with(struct exchange *exchange, uint32_t length) {
    struct request request;
    assert_true(exchange_next(exchange, &request));
    struct text *body = exchange_begin_reply(exchange);
    while (length-- > 0)
        text_add(body, "x", 1);
    exchange_end_reply(exchange, &request, STATUS_OK);
}

TEST(large_replies_count_until_they_are_sent_or_dropped) {
    struct output_budget budget = {.limit = 10000};
    struct buffer_pool counted = {.budget = &budget};
    struct exchange one, other;
    exchange_open(&one, &counted, NULL);
    exchange_open(&other, &counted, NULL);
    ask(&one, "top 1\ntop 1\n");
    ask(&other, "top 1\n");
    reply_with(&one, 100);
    assert_int_equal(budget.in_use, 0);
    reply_with(&one, 6000);
    const uint64_t held = budget.in_use;
    assert_true(held >= 6100 && !output_budget_is_spent(&budget));
    reply_with(&other, 6000);
    assert_true(budget.in_use >= held + 6000 && output_budget_is_spent(&budget));
    exchange_sent(&one, 6100);
    assert_true(output_budget_is_spent(&budget));
    exchange_sent(&one, exchange_output(&one).length);
    assert_true(budget.in_use >= 6000 && !output_budget_is_spent(&budget));
    exchange_close(&other);
    assert_int_equal(budget.in_use, 0);
    exchange_close(&one);
    buffer_pool_close(&counted);
}

/* The body that a HEAD asks for is made, for its length, and its memory kept with the head. */
TEST(memory_of_truncated_replies_counts_too) {
    struct output_budget budget = {.limit = 10000};
    struct buffer_pool counted = {.budget = &budget};
    struct exchange head, lost;
    struct request request;
    exchange_open(&head, &counted, NULL);
    ask(&head, "HEAD /top HTTP/1.1\r\nHost: h\r\n\r\n");
    reply_with(&head, 20000);
    assert_true(exchange_output(&head).length < HTTP_REPLY_HEAD_LIMIT);
    assert_true(budget.in_use >= 20000);
    exchange_close(&head);
    assert_int_equal(budget.in_use, 0);

    exchange_open(&lost, &counted, NULL);
    ask(&lost, "top 1\ntop 1\n");
    reply_with(&lost, 100);
    assert_true(exchange_next(&lost, &request));
    struct text *body = exchange_begin_reply(&lost);
    text_reserve(body, 20000);
    body->overflow = true;
    exchange_end_reply(&lost, &request, STATUS_OK);
    assert_true(budget.in_use >= 20000);
    exchange_close(&lost);
    assert_int_equal(budget.in_use, 0);
    buffer_pool_close(&counted);
}

TEST(small_replies_in_large_pooled_buffers_count_only_if_there_are_many) {
    enum { MANY = 4 * BUFFERS_KEPT };
    static struct exchange exchanges[MANY];
    struct output_budget budget = {.limit = 10000};
    struct buffer_pool counted = {.budget = &budget};
    uint64_t in_use = 0;
    for (unsigned i = 0; i < MANY; i++) {
        exchange_open(&exchanges[i], &counted, NULL);
        ask(&exchanges[i], "HEAD /top HTTP/1.1\r\nHost: h\r\n\r\n");
        reply_with(&exchanges[i], BUFFER_KEPT_BYTES - HTTP_REPLY_HEAD_LIMIT);
        assert_int_equal(exchanges[i].output.capacity, BUFFER_KEPT_BYTES);
        in_use += exchanges[i].output.capacity;
        if (i < BUFFERS_KEPT)
            assert_int_equal(budget.in_use, 0);
    }
    assert_true(budget.in_use + MANY * BUFFER_FIRST_BYTES + BUFFERS_KEPT * BUFFER_KEPT_BYTES >=
                in_use);
    for (unsigned i = 0; i < MANY; i++)
        exchange_close(&exchanges[i]);
    assert_int_equal(budget.in_use, 0);
    exchange_open(&exchanges[0], &counted, NULL);
    ask(&exchanges[0], "top 1\n");
    reply_with(&exchanges[0], 100);
    assert_int_equal(exchanges[0].output.capacity, BUFFER_KEPT_BYTES);
    assert_int_equal(budget.in_use, 0);
    exchange_close(&exchanges[0]);
    buffer_pool_close(&counted);
}

/* As for a server that stops. */
static void answer_as_last(struct play *play) {
    struct request request;
    assert_true(exchange_next(&play->exchange, &request));
    exchange_make_last(&play->exchange);
    answer(play, &request);
}

TEST(a_reply_is_made_the_last_only_if_no_more_input_has_arrived) {
    static struct play play;
    static const char asked[] = "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n";
    play.output_length = 0;
    exchange_open(&play.exchange, &buffers, NULL);
    ask(&play.exchange, asked);
    ask(&play.exchange, asked);
    answer_as_last(&play);
    play.exchange.has_unread_input = true;
    answer_as_last(&play);
    answer_and_send(&play, 4096);
    assert_false(exchange_is_done(&play.exchange));
    ask(&play.exchange, asked);
    play.exchange.has_unread_input = false;
    answer_as_last(&play);
    answer_and_send(&play, 4096);
    strip_dates(&play);
    assert_string_equal(play.output, OK_HEAD "3\r\n\r\nok\n" OK_HEAD "3\r\n\r\nok\n" OK_HEAD
                                             "3\r\nConnection: close\r\n\r\nok\n");
    assert_true(exchange_is_done(&play.exchange));
    exchange_close(&play.exchange);
}

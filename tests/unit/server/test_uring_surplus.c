#include "unit.h"

#include "base/limits.h"
#include "server/uring/surplus.h"
#include "service/exchange/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct buffer_pool buffers;
static struct exchange exchange;
static struct surplus *surplus;

static int open_one(void **state) {
    (void)state;
    exchange_open(&exchange, &buffers, NULL);
    return 0;
}

static int close_it(void **state) {
    (void)state;
    surplus_release(&surplus);
    exchange_close(&exchange);
    buffer_pool_close(&buffers);
    return 0;
}

/* The exchange gives requests back in the order they came: `top N`, with N counted up from 1. */
static unsigned next_rows;

static void keep_top(unsigned rows) {
    char line[32];
    int length = snprintf(line, sizeof line, "top %u\n", rows);
    assert_true(surplus_keep(&surplus, &exchange, line, (size_t)length));
}

static bool answer_one(void) {
    char space[16];
    struct text body = text_fixed(space, sizeof space);
    struct request request;
    if (!exchange_next(&exchange, &request))
        return false;
    assert_int_equal(request.rows, next_rows % TOP_LIMIT + 1);
    next_rows++;
    text_add_string(&body, "x\n");
    exchange_reply(&exchange, &request, STATUS_OK, &body);
    return true;
}

static void send_all(void) {
    struct span out = exchange_output(&exchange);
    if (out.length > 0)
        exchange_sent(&exchange, out.length);
}

#undef TEST_SETUP
#undef TEST_TEARDOWN
#define TEST_SETUP open_one
#define TEST_TEARDOWN close_it

TEST(input_that_arrives_while_replies_wait_is_answered_in_order) {
    next_rows = 0;
    for (unsigned i = 0; i < 1000; i++) {
        keep_top(i % TOP_LIMIT + 1);
        if (i == 0)
            assert_true(answer_one()); /* from now on a reply waits to be sent */
    }
    assert_true(surplus_length(surplus) > 0);
    while (next_rows < 1000) {
        send_all();
        surplus_feed(&surplus, &exchange);
        assert_true(answer_one());
        while (answer_one())
            continue;
    }
    assert_null(surplus);
}

TEST(a_client_that_is_always_ahead_does_not_make_the_surplus_grow) {
    unsigned asked = 0;
    next_rows = 0;
    while (asked < 2000)
        keep_top(asked++ % TOP_LIMIT + 1);
    while (next_rows < 100000) {
        assert_true(answer_one());
        keep_top(asked++ % TOP_LIMIT + 1); /* a reply waits */
        send_all();
        surplus_feed(&surplus, &exchange);
        assert_non_null(surplus);
        assert_true(surplus->size <= 16384);
    }
}

/* A head larger than the space that the exchange offers first. */
TEST(a_large_head_is_passed_in_several_pieces) {
    const char begin[] = "GET /healthz HTTP/1.1\r\nHost: x\r\nA: ";
    char head[6000];
    memset(head, 'y', sizeof head);
    memcpy(head, begin, sizeof begin - 1);
    memcpy(head + sizeof head - 4, "\r\n\r\n", 4);
    const char first[] = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    struct request request;
    char space[16];
    struct text body = text_fixed(space, sizeof space);
    assert_true(surplus_keep(&surplus, &exchange, first, sizeof first - 1));
    assert_true(exchange_next(&exchange, &request));
    exchange_reply(&exchange, &request, STATUS_OK, &body);
    for (size_t at = 0; at < sizeof head; at += 1000)
        assert_true(surplus_keep(&surplus, &exchange, head + at, 1000));
    send_all();
    surplus_feed(&surplus, &exchange);
    assert_null(surplus);
    assert_true(exchange_next(&exchange, &request));
    assert_int_equal(request.kind, REQUEST_HEALTH);
}

TEST(input_after_a_refused_request_is_dropped) {
    char garbage[1024];
    struct request request;
    memset(garbage, 'x', sizeof garbage);
    for (int i = 0; i < 1000; i++)
        assert_true(surplus_keep(&surplus, &exchange, garbage, sizeof garbage));
    assert_true(exchange_next(&exchange, &request));
    assert_int_equal(request.kind, REQUEST_INVALID);
    surplus_release(&surplus);
    for (int i = 0; i < 1000; i++)
        assert_true(surplus_keep(&surplus, &exchange, garbage, sizeof garbage));
    assert_null(surplus);
}

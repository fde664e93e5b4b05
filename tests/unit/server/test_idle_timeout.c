#include "unit.h"

#include "server/connection/idle_timeout.h"
#include "service/exchange/exchange.h"

#include <string.h>

enum { REPLY = 3 * TAKEN_LEAST, SEEN_NS = 5 * NS_PER_MS };

static void reply(struct exchange *exchange, const char *asked) {
    static char zeroes[REPLY];
    struct request request;
    memcpy(exchange_space(exchange).bytes, asked, strlen(asked));
    exchange_received(exchange, strlen(asked));
    assert_true(exchange_next(exchange, &request));
    struct text *body = exchange_begin_reply(exchange);
    text_add(body, zeroes, sizeof zeroes);
    exchange_end_reply(exchange, &request, STATUS_OK);
}

TEST(replies_are_late_after_the_idle_timeout_and_a_second_for_each_piece_of_them) {
    const struct options options = {.idle_timeout_ms = 2000};
    struct buffer_pool buffers = {0};
    struct exchange exchange;
    int64_t begun_ns = 0, due_ns = SEEN_NS + (2 + 3) * (int64_t)NS_PER_S;
    exchange_open(&exchange, &buffers, NULL);
    reply(&exchange, "top 1\n");
    assert_false(idle_reply_is_late(&exchange, &options, SEEN_NS, &begun_ns));
    for (int i = 0; i < 10; i++) { /* though some of them is taken each time */
        exchange_sent(&exchange, 1000);
        assert_false(idle_reply_is_late(&exchange, &options, due_ns, &begun_ns));
    }
    assert_true(idle_reply_is_late(&exchange, &options, due_ns + 50 * NS_PER_MS, &begun_ns));
    exchange_sent(&exchange, exchange_output(&exchange).length);
    assert_false(idle_reply_is_late(&exchange, &options, due_ns + 50 * NS_PER_MS, &begun_ns));
    reply(&exchange, "top 1\n");
    assert_false(idle_reply_is_late(&exchange, &options, 2 * due_ns, &begun_ns));
    exchange_close(&exchange);
    buffer_pool_close(&buffers);
}

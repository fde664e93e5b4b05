#include "unit.h"

#include "server/connection/answer.h"

#include <string.h>

/* A worker found no memory to render it. The replies before it are still sent, and the server goes
 * on. */
TEST(a_body_for_which_no_memory_was_left_ends_the_conversation) {
    static const char ASKED[] = "top 1\ntop 2\n";
    struct stats *stats = stats_create(1);
    struct server server = {.stats = stats, .counts = &stats->workers[0]};
    struct text whole = text_growing(REPLY_LIMIT), lost = {.limit = REPLY_LIMIT, .overflow = true};
    struct buffer_pool buffers = {0};
    struct exchange exchange;
    struct request request;
    text_add_string(&whole, "whole\n");
    exchange_open(&exchange, &buffers, NULL);
    memcpy(exchange_space(&exchange).bytes, ASKED, strlen(ASKED));
    exchange_received(&exchange, strlen(ASKED));
    assert_true(exchange_next(&exchange, &request));
    answer_reply(&server, -1, &exchange, &request, STATUS_OK, &whole);
    assert_true(exchange_next(&exchange, &request));
    answer_reply(&server, -1, &exchange, &request, STATUS_OK, &lost);
    struct span out = exchange_output(&exchange);
    assert_int_equal(out.length, strlen("whole\n\n"));
    assert_memory_equal(out.bytes, "whole\n\n", out.length);
    exchange_sent(&exchange, out.length);
    assert_true(exchange_is_done(&exchange));
    exchange_close(&exchange);
    buffer_pool_close(&buffers);
    text_release(&whole);
    stats_destroy(stats);
}

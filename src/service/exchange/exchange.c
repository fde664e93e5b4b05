#include "service/exchange/exchange.h"

#include "base/hot.h"
#include "service/exchange/exchange_internal.h"

#include <assert.h>
#include <string.h>

static_assert((int)BUFFER_KEPT_BYTES <= (int)HEAD_LIMIT, "no input is larger than a head may be");

HOT void exchange_open(struct exchange *exchange, struct buffer_pool *pool,
                       const struct admission *admission) {
    *exchange = (struct exchange){
        .pool = pool, .admission = admission, .output = text_growing(OUTPUT_LIMIT)};
}

HOT void exchange_drop_input(struct exchange *exchange) {
    buffer_pool_put(exchange->pool, (struct buffer){exchange->input, exchange->input_capacity});
    exchange->input = NULL;
    exchange->input_capacity = exchange->input_from = exchange->input_to = 0;
}

HOT void exchange_drop_output(struct exchange *exchange) {
    output_budget_set(exchange->pool->budget, &exchange->budgeted, 0);
    buffer_pool_put(exchange->pool,
                    (struct buffer){exchange->output.bytes, exchange->output.capacity});
    exchange->output = text_growing(OUTPUT_LIMIT);
    exchange->output_sent = 0;
}

HOT void exchange_close(struct exchange *exchange) {
    exchange_drop_input(exchange);
    exchange_drop_output(exchange);
}

/* Makes room for more input, up to HEAD_LIMIT. Returns false if memory ran out. */
static bool make_room(struct exchange *exchange) {
    if (exchange->input == NULL) {
        struct buffer buffer = buffer_pool_get(exchange->pool);
        exchange->input = buffer.bytes;
        exchange->input_capacity = buffer.capacity;
    } else if (exchange->input_from > 0) {
        struct slice waiting = exchange_pending_input(exchange);
        memmove(exchange->input, waiting.bytes, waiting.length);
        exchange->input_from = 0;
        exchange->input_to = (uint32_t)waiting.length;
    } else if (exchange->input_to == exchange->input_capacity &&
               exchange->input_capacity < HEAD_LIMIT) {
        char *larger =
            buffer_pool_grow(exchange->pool, exchange->input, exchange->input_to, HEAD_LIMIT);
        if (larger == NULL)
            return false;
        exchange->input = larger;
        exchange->input_capacity = HEAD_LIMIT;
    }
    return exchange->input != NULL;
}

HOT struct span exchange_space(struct exchange *exchange) {
    if (exchange->closing || exchange->has_ended || exchange->output.length > 0)
        return (struct span){NULL, 0};
    if (!make_room(exchange)) {
        exchange->closing = true;
        return (struct span){NULL, 0};
    }
    return (struct span){exchange->input + exchange->input_to,
                         exchange->input_capacity - exchange->input_to};
}

HOT void exchange_received(struct exchange *exchange, size_t length) {
    assert(length <= exchange->input_capacity - exchange->input_to);
    if (length == 0)
        exchange->has_ended = true;
    exchange->input_to += (uint32_t)length;
}

HOT bool exchange_is_partial(const struct exchange *exchange) {
    const bool has_begun = exchange->has_skipped || exchange_pending_input(exchange).length > 0;
    return has_begun && exchange->output.length == 0;
}

HOT struct span exchange_output(const struct exchange *exchange) {
    if (exchange->output.bytes == NULL)
        return (struct span){NULL, 0};
    return (struct span){exchange->output.bytes + exchange->output_sent,
                         exchange->output.length - exchange->output_sent};
}

HOT void exchange_sent(struct exchange *exchange, size_t length) {
    assert(length <= exchange->output.length - exchange->output_sent);
    exchange->output_sent += (uint32_t)length;
    if (exchange->output_sent == exchange->output.length)
        exchange_drop_output(exchange);
}

HOT bool exchange_is_done(const struct exchange *exchange) {
    bool is_sent = exchange->output.length == 0;
    return is_sent && (exchange->closing ||
                       (exchange->has_ended && exchange_pending_input(exchange).length == 0));
}

bool exchange_is_answered(const struct exchange *exchange) {
    return exchange_pending_input(exchange).length == 0 && !exchange->closing &&
           !exchange->has_ended;
}

bool exchange_is_idle(const struct exchange *exchange) {
    return exchange->output.length == 0 && exchange_pending_input(exchange).length == 0;
}

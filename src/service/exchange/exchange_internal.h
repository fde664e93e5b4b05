/* Shared by the parts of the exchange: exchange.c, requests.c, replies.c. */
#pragma once
#include "base/limits.h"
#include "base/slice.h"
#include "service/exchange/exchange.h"
#include "service/exchange/http_reply.h"

/* Room for any reply: head, body, and the empty line that ends it in the line dialect. */
enum { REPLY_ROOM = HTTP_REPLY_HEAD_LIMIT + REPLY_LIMIT + 1 };

/* Bytes received and not yet parsed. */
static inline struct slice exchange_pending_input(const struct exchange *exchange) {
    if (exchange->input == NULL) /* NULL + 0 would be undefined */
        return (struct slice){NULL, 0};
    return (struct slice){exchange->input + exchange->input_from,
                          exchange->input_to - exchange->input_from};
}

/* Discard the contents and return the buffer to the pool. */
void exchange_drop_input(struct exchange *exchange);
void exchange_drop_output(struct exchange *exchange);

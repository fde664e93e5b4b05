/* What the parts of the exchange share: the bytes, the requests in them, the replies. */
#pragma once
#include "base/limits.h"
#include "exchange/exchange.h"
#include "exchange/http_reply.h"
#include "exchange/slice.h"

/* Room that a reply may need: its head, its body, and the end of it in the line dialect. */
enum { REPLY_ROOM = HTTP_REPLY_HEAD_LIMIT + REPLY_LIMIT + 1 };

/* What came in and is not consumed. */
static inline struct slice exchange_waiting(const struct exchange *exchange) {
    return (struct slice){exchange->input + exchange->input_from,
                          exchange->input_to - exchange->input_from};
}

/* Give the buffer back, with all that is in it. */
void exchange_drop_input(struct exchange *exchange);
void exchange_drop_output(struct exchange *exchange);

/* The exchange: one connection's conversation, sans-I/O. Bytes in, requests out, replies in, bytes
 * out; no system call, so it is tested without a socket.
 *
 *     space = exchange_space(x)          read what the client sent into it
 *     exchange_received(x, n)            n == 0: the client will send no more
 *     while (exchange_next(x, &request)) one at a time, in the order they came
 *         ... the service answers ...
 *         exchange_reply(x, &request, status, body)
 *     bytes = exchange_output(x)         write them to the client
 *     exchange_sent(x, n)                then ask exchange_next again: it may have held back
 *     if (exchange_is_done(x))           close the connection
 *
 * Its business, once, and no design's: two dialects, requests split at any byte or pipelined,
 * half-close, partial writes, every limit. At rest it holds no buffer: its own size is all it
 * costs. While requests or replies are under way it holds up to HEAD_LIMIT + OUTPUT_LIMIT bytes,
 * mostly two of the buffers that its thread keeps for all of its exchanges. */
#pragma once
#include "base/dialect.h"
#include "base/text.h"
#include "base/token.h"
#include "exchange/buffers.h"
#include "service/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exchange {
    struct buffers *buffers; /* where its own come from */
    char *input;             /* NULL: none waits */
    uint32_t input_capacity; /* HEAD_LIMIT at most */
    uint32_t input_from;     /* what came before is consumed */
    uint32_t input_to;
    struct text output;
    const struct token *token; /* to be known by who asks; NULL: none */
    uint32_t output_sent;
    uint32_t reply_from; /* in the output: room for the head of the reply that is being made */
    uint8_t dialect;
    bool ended;      /* the client will send no more */
    bool closing;    /* nothing more is read: close once all is sent */
    bool is_head;    /* the request that is being answered wants no body */
    bool keeps_open; /* ... and its connection stays open */
    bool says_keep;  /* ... and must be told so (HTTP/1.0) */
    bool is_refused; /* it is closing although the client may still be sending */
    bool has_token;  /* line dialect: the client has said it */
};

struct span {
    char *bytes;
    size_t length;
};

/* An exchange and its buffers belong to one thread, or are handed over together. */
void exchange_open(struct exchange *exchange, struct buffers *buffers);
void exchange_close(struct exchange *exchange);

/* From now on only who says this token is answered, in the line dialect once ("auth TOKEN"), in
 * HTTP with each request; whether the server is alive anybody may ask. NULL: all are answered. The
 * token stays the caller's. */
void exchange_ask_token(struct exchange *exchange, const struct token *token);

/* Where to read into. Empty: nothing is to be read now (replies wait to be sent, or it is closing),
 * or no memory is left, which closes it. */
struct span exchange_space(struct exchange *exchange);
void exchange_received(struct exchange *exchange, size_t length);

/* The next complete request, if there is one and there is room for its reply. Malformed and
 * over-long ones come out as REQUEST_INVALID; the service answers those too. */
bool exchange_next(struct exchange *exchange, struct request *request);

/* The reply to the request that exchange_next gave last. Its body is appended to what _begin
 * returns, which is where it is sent from; _end then frames it in the dialect of the request. If no
 * memory was left for it (`overflow`), the exchange is closing after the replies before it. */
struct text *exchange_begin_reply(struct exchange *exchange);
void exchange_end_reply(struct exchange *exchange, const struct request *request,
                        enum status status);

/* The same with a body that was made elsewhere. */
void exchange_reply(struct exchange *exchange, const struct request *request, enum status status,
                    const struct text *body);

/* The client kept silent for too long. A request that has begun becomes REQUEST_INVALID with
 * status 408, which *request holds then (true); otherwise it is just closing (false). */
bool exchange_time_out(struct exchange *exchange, struct request *request);

/* A request has begun and is not complete. */
bool exchange_is_partial(const struct exchange *exchange);

/* What waits to be sent; empty: nothing. */
struct span exchange_output(const struct exchange *exchange);
void exchange_sent(struct exchange *exchange, size_t length);

/* Everything was answered and sent and nothing more will come. */
bool exchange_is_done(const struct exchange *exchange);

/* When what waits to be sent is sent, nothing is to be done until the client sends more. */
bool exchange_is_answered(const struct exchange *exchange);

/* Nothing was asked that has not been answered and sent: it may be closed without loss. */
bool exchange_is_idle(const struct exchange *exchange);

/* The bytes that refuse a connection before anything of it was read: as the server is full
 * (STATUS_UNAVAILABLE), or as the client's address may not ask (STATUS_FORBIDDEN). Its dialect is
 * not known yet: an HTTP answer, whose body any client of the line dialect shows too. */
struct span exchange_refusal(enum status status);

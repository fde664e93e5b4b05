/* One connection's conversation, sans-I/O: bytes in, requests out, replies in, bytes out. It makes
 * no system call, so it is tested without a socket.
 *
 *     space = exchange_space(x)           read into it
 *     exchange_received(x, n)             n == 0: the client has ended its side
 *     while (exchange_next(x, &request))  one at a time, in order
 *         body = exchange_begin_reply(x)  the service appends to it
 *         exchange_end_reply(x, &request, status)
 *     bytes = exchange_output(x)          write them to the client
 *     exchange_sent(x, n)                 then call exchange_next again: it may have held back
 *     if (exchange_is_done(x))            close the connection
 *
 * It handles, once for all designs: two dialects, requests split at any byte or pipelined,
 * half-close, partial writes, every limit. An idle exchange holds no buffer. A busy one holds up
 * to HEAD_LIMIT + OUTPUT_LIMIT bytes, usually two of the buffers that its thread reuses. */
#pragma once
#include "base/dialect.h"
#include "base/text.h"
#include "base/token.h"
#include "exchange/buffers.h"
#include "exchange/hosts.h"
#include "service/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What clients need to be answered; health checks need nothing. */
struct admission {
    struct token token; /* of length 0: none, and HTTP clients may ask for these hosts only */
    struct hosts hosts;
};

struct exchange {
    struct buffers *buffers; /* the store that its own come from */
    char *input;             /* NULL: nothing is waiting */
    uint32_t input_capacity; /* HEAD_LIMIT at most */
    uint32_t input_from;     /* consumed up to here */
    uint32_t input_to;
    uint32_t held; /* bytes of the output that its budget counts */
    struct text output;
    const struct admission *admission; /* NULL: clients need nothing */
    uint32_t output_sent;
    uint32_t reply_from; /* in the output: where the reply being made has room for its head */
    uint8_t dialect;
    bool ended;           /* the client has ended its side */
    bool closing;         /* read no more; close when all is sent */
    bool is_head;         /* the request being answered wants no body */
    bool keeps_open;      /* ... keeps the connection open */
    bool says_keep;       /* ... and must be told so (HTTP/1.0) */
    bool is_refused;      /* closing while the client may still be sending */
    bool has_token : 1;   /* line dialect: the client has presented it */
    bool is_followed : 1; /* more has arrived, which it was not given yet (exchange_make_last) */
};

struct span {
    char *bytes;
    size_t length;
};

/* An exchange and its buffers belong to one thread at a time. */
void exchange_open(struct exchange *exchange, struct buffers *buffers);
void exchange_close(struct exchange *exchange);

/* Requires from now on the token, in the line dialect once ("auth TOKEN"), in HTTP with each
 * request; or where there is none, in HTTP, that no other host is named. NULL: nothing. What it
 * points to stays the caller's. */
void exchange_admit(struct exchange *exchange, const struct admission *admission);

/* Where to read into. Empty: read nothing now (replies are waiting to be sent, or it is closing,
 * also for lack of memory). */
struct span exchange_space(struct exchange *exchange);
void exchange_received(struct exchange *exchange, size_t length);

/* The next complete request, if there is one and there is room for its reply. A malformed or too
 * long one comes out as REQUEST_INVALID and is answered like any other. */
bool exchange_next(struct exchange *exchange, struct request *request);

/* The reply to the last request from exchange_next. Append its body to what _begin returns: it
 * is sent from there. _end frames it in the dialect of the request. If memory ran out
 * (`overflow`), the exchange closes after the replies before it. */
struct text *exchange_begin_reply(struct exchange *exchange);
void exchange_end_reply(struct exchange *exchange, const struct request *request,
                        enum status status);

/* The reply to the last request from exchange_next will be the connection's last, and say so,
 * unless more of the client's has arrived. Before exchange_end_reply. */
void exchange_make_last(struct exchange *exchange);

/* The same with a body that was made elsewhere; if memory ran out there (`overflow`), likewise. */
void exchange_reply(struct exchange *exchange, const struct request *request, enum status status,
                    const struct text *body);

/* The client was idle for too long. If a request has begun, *request becomes REQUEST_INVALID
 * with status 408 (true); otherwise the exchange just closes (false). */
bool exchange_time_out(struct exchange *exchange, struct request *request);

/* A request has begun and is incomplete. */
bool exchange_is_partial(const struct exchange *exchange);

/* What is waiting to be sent. */
struct span exchange_output(const struct exchange *exchange);
void exchange_sent(struct exchange *exchange, size_t length);

/* Everything is answered and sent, and nothing more will come. */
bool exchange_is_done(const struct exchange *exchange);

/* Once the output is sent, there is nothing to do until the client sends more. */
bool exchange_is_answered(const struct exchange *exchange);

/* Every request is answered and sent: closing loses nothing. */
bool exchange_is_idle(const struct exchange *exchange);

/* Why a connection is refused before it is read. */
enum refusal {
    REFUSED_FULL,    /* the server is */
    REFUSED_ADDRESS, /* it is not allowed */
    REFUSED_GUESSES, /* too many wrong tokens came from there */
    REFUSALS
};

/* The bytes that say so. The dialect is unknown yet: this is HTTP with a body that clients of the
 * line dialect show too. */
struct span exchange_refusal(enum refusal refusal);

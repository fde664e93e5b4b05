/* The protocol side of one connection, sans-I/O: bytes in, requests out, replies in, bytes out. It
 * makes no system call, so it can be tested without a socket.
 *
 *     space = exchange_space(x)           read into it
 *     exchange_received(x, n)             n == 0: the client has shut down its sending side
 *     while (exchange_next(x, &request))  one at a time, in order
 *         body = exchange_begin_reply(x)  the service appends to it
 *         exchange_end_reply(x, &request, status)
 *     bytes = exchange_output(x)          write them to the client
 *     exchange_sent(x, n)                 then exchange_next again: full output holds back requests
 *     if (exchange_is_done(x))            close the connection
 *
 * It handles for all designs: both dialects, pipelined requests and requests split at any byte,
 * half-close, partial writes and every limit. An idle exchange holds no buffer. A busy one holds up
 * to HEAD_LIMIT + OUTPUT_LIMIT bytes, but usually two buffers from its thread's pool. */
#pragma once
#include "base/dialect.h"
#include "base/text.h"
#include "base/token.h"
#include "service/exchange/allowed_hosts.h"
#include "service/exchange/buffer_pool.h"
#include "service/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the server requires of clients. Health checks need nothing. */
struct admission {
    struct token token; /* of length 0: no token; HTTP clients must name an allowed host */
    struct allowed_hosts hosts;
};

struct exchange {
    struct buffer_pool *pool;
    char *input;             /* NULL: no bytes are buffered */
    uint32_t input_capacity; /* at most HEAD_LIMIT */
    uint32_t input_from;     /* parsed up to here */
    uint32_t input_to;       /* received up to here */
    uint32_t budgeted;       /* output bytes that the budget counts */
    struct text output;
    const struct admission *admission; /* NULL: no requirement */
    uint32_t output_sent;
    uint32_t reply_from; /* offset in the output of the room for the current reply's head */
    uint8_t dialect;
    bool has_ended;            /* the client has shut down its sending side */
    bool closing;              /* read no more; close once all is sent */
    bool is_head_request;      /* the current request: its reply has no body */
    bool keep_alive;           /* ... its reply keeps the connection open */
    bool announces_keep_alive; /* ... and says so (HTTP/1.0) */
    bool is_refused;           /* closing while the client may still be sending */
    bool has_token : 1;        /* line dialect: the client has sent the right token */
    bool has_skipped : 1;      /* an empty line came before the next request: it has begun */
    bool ends_with_reply : 1;  /* closing after a reply, which must not be lost */
    bool has_unread_input : 1; /* for exchange_make_last: the caller holds more input */
};

struct span {
    char *bytes;
    size_t length;
};

/* An exchange and its pool belong to one thread at a time. The admission stays the caller's: the
 * line dialect needs the token once ("auth TOKEN"), HTTP with each request; without a token, HTTP
 * clients must name an allowed host. NULL: no requirement. */
void exchange_open(struct exchange *exchange, struct buffer_pool *pool,
                   const struct admission *admission);
void exchange_close(struct exchange *exchange);

/* Where to read into. Empty: read nothing now, because replies are waiting to be sent or the
 * exchange is closing (perhaps because memory ran out). */
struct span exchange_space(struct exchange *exchange);
void exchange_received(struct exchange *exchange, size_t length);

/* Takes the next complete request, if there is one and the output has room for its reply. A
 * malformed or too long request becomes REQUEST_INVALID and is answered like any other. */
bool exchange_next(struct exchange *exchange, struct request *request);

/* The reply to the last request from exchange_next. Append its body to the text that _begin
 * returns: it is sent from there, without a copy. _end frames it in the request's dialect. If
 * memory ran out
 * (`overflow`), the exchange closes after the earlier replies. */
struct text *exchange_begin_reply(struct exchange *exchange);
void exchange_end_reply(struct exchange *exchange, const struct request *request,
                        enum status status);

/* Call before exchange_end_reply: unless more input has arrived, that reply will be the
 * connection's last, and say so. */
void exchange_make_last(struct exchange *exchange);

/* Both steps, with a body that was made elsewhere; `overflow` has the same effect. */
void exchange_reply(struct exchange *exchange, const struct request *request, enum status status,
                    const struct text *body);

/* The client was idle for too long. If it has sent part of a request, *request becomes
 * REQUEST_INVALID with status 408 (true); otherwise the exchange closes without a reply (false). */
bool exchange_time_out(struct exchange *exchange, struct request *request);

/* Part of a request has arrived. */
bool exchange_is_partial(const struct exchange *exchange);

/* What is waiting to be sent. */
struct span exchange_output(const struct exchange *exchange);
void exchange_sent(struct exchange *exchange, size_t length);

/* All requests are answered, all replies sent, and no further request will come: close. */
bool exchange_is_done(const struct exchange *exchange);

/* Once the output is sent, there is nothing to do until the client sends another request. */
bool exchange_is_answered(const struct exchange *exchange);

/* All requests are answered and all replies sent: closing now loses nothing. */
bool exchange_is_idle(const struct exchange *exchange);

/* Why a connection is refused before anything is read from it. */
enum refusal {
    REFUSED_FULL,    /* the server has --max-connections already */
    REFUSED_ADDRESS, /* the client's address is not allowed */
    REFUSED_GUESSES, /* too many wrong tokens came from that address */
    REFUSALS
};

/* The reply to send. The client's dialect is unknown yet: this is HTTP whose body also reads as an
 * error in the line dialect. */
struct span exchange_refusal(enum refusal refusal);

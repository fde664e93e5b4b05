/* HTTP/2 (RFC 9113) of a client, by nghttp2: bytes in, replies and bytes out, no system call.
 *
 * A request is written as in HTTP/1.1 and sent as it is meant: its Host is the authority, and what
 * HTTP/2 does not know is left out. Of gRPC the trailers are checked. */
#pragma once
#include "client/load/request.h"
#include "client/reply/reply.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http2_request;

/* A request on its way. Nothing changes while `id` is 0. */
struct http2_stream {
    const struct http2_request *request;
    struct reply *reply; /* begun */
    int32_t id;          /* 0: none is on its way */
    uint32_t sent;       /* bytes of the body */
    uint32_t head_bytes; /* of the reply, with its trailers */
    uint16_t status;     /* of a head that is not complete; 0: none */
    bool is_ended;       /* the server has sent all */
    bool has_grpc_status, is_grpc_failure;
};

struct http2; /* of one connection */

/* Called from http2_feed and http2_output. Both may submit and cancel requests. */
struct http2_events {
    void *owner;
    void (*began)(void *owner, struct http2_stream *stream); /* the head of its reply is here */
    /* verdict: final; or REPLY_INCOMPLETE: `why` says how it ended, and is_untouched whether the
     * server promises that it has done nothing. */
    void (*ended)(void *owner, struct http2_stream *stream, enum verdict verdict, const char *why,
                  bool is_untouched);
};

/* Builds one for each of the requests, which must outlive them. Returns NULL and *problem. */
struct http2_request *http2_requests_build(const struct requests *requests, bool is_tls,
                                           const char **problem);
const struct http2_request *http2_requests_at(const struct http2_request *list, ptrdiff_t number);
void http2_requests_release(struct http2_request *list, uint32_t count); /* NULL is allowed */

size_t http2_body_length(const struct http2_request *request);

/* streams: all that will be submitted. Returns NULL without memory. */
struct http2 *http2_open(const struct http2_events *events, struct http2_stream *streams,
                         uint32_t count);
void http2_close(struct http2 *http2); /* NULL is allowed */

/* Sends the stream's request as soon as the server allows it. Returns 0, or -EAGAIN: this
 * connection takes no more. */
int http2_submit(struct http2 *http2, struct http2_stream *stream);

/* Forgets a stream, and tells the server. */
void http2_cancel(struct http2 *http2, struct http2_stream *stream);

/* Takes what arrived. Returns 0, or -EPROTO: the connection must end, and http2_problem says why.
 */
int http2_feed(struct http2 *http2, const char *bytes, size_t length);

/* The next bytes to send, until the next call; empty: none. */
struct slice http2_output(struct http2 *http2);

/* Whether the connection must end, as the server has broken the protocol: http2_problem says how,
 * and the output that was taken tells the server. */
bool http2_is_broken(struct http2 *http2);

/* The server will take no more requests on this connection, but answers those that it has. */
bool http2_is_leaving(const struct http2 *http2);

/* A few words on why the connection must end. */
const char *http2_problem(const struct http2 *http2);

/* The head of an HTTP/1.1 request (RFC 9112): a pure parser, strict and small. */
#pragma once
#include "base/slice.h"
#include "service/request.h"

#include <stdbool.h>
#include <stddef.h>

struct http_head {
    struct request request;
    bool is_head_request;      /* HEAD: the reply has no body */
    bool keep_alive;           /* the connection stays open after the reply */
    bool announces_keep_alive; /* HTTP/1.0 asked for keep-alive: the reply must confirm it */
    struct slice bearer;       /* the client's token; empty: none, or several */
    struct slice host; /* requested host, perhaps with a port; NULL bytes: none (HTTP/1.0) */
};

/* Length of the head at the start of the text, including the empty last line; 0 if incomplete. A
 * head whose lines end in a bare LF is complete, and malformed. */
size_t http_head_length(struct slice text);

/* Parses a complete head. Always fills *head: a malformed one becomes REQUEST_INVALID, and clears
 * keep_alive if the end of the request is uncertain. */
void http_parse_head(struct slice text, struct http_head *head);

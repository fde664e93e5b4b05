/* The head of an HTTP/1.1 request (RFC 9112): a pure parser, strict and small. */
#pragma once
#include "exchange/slice.h"
#include "service/request.h"

#include <stdbool.h>
#include <stddef.h>

struct http_head {
    struct request request;
    bool is_head;        /* HEAD: the reply has no body */
    bool keep_alive;     /* the connection stays open after the reply */
    bool says_keep;      /* HTTP/1.0 that asked for keep-alive: the reply must grant it */
    struct slice bearer; /* the token presented; empty: none, or several */
    struct slice host;   /* that is asked for, perhaps with a port; NULL bytes: none (HTTP/1.0) */
};

/* Length of the head at the start of the text, with its empty last line; 0 if incomplete. A head
 * of lines that end in a bare LF is complete too, and malformed. */
size_t http_head_length(struct slice text);

/* Parses a complete head. Always fills *head: a bad one becomes REQUEST_INVALID, without
 * keep_alive if the end of the request is uncertain. */
void http_parse_head(struct slice text, struct http_head *head);

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
    struct slice bearer; /* the token that it brings; empty: none, or more than one */
};

/* Bytes of the head that these begin with, its last line being empty; 0 if it is not complete.
 * Lines that end in a bare LF make one complete too: complete, and then malformed. */
size_t http_head_length(struct slice text);

/* Parses a complete head, its last line being empty. Always fills *head: a bad one becomes
 * REQUEST_INVALID. keep_alive is false where the end of the request is not certain. */
void http_parse_head(struct slice text, struct http_head *head);

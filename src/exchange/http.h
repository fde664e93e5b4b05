/* The head of an HTTP/1.1 request (RFC 9112): a pure parser, strict and small. */
#pragma once
#include "service/request.h"

#include <stdbool.h>
#include <stddef.h>

struct http_head {
    struct request request;
    bool is_head;         /* HEAD: the reply has no body */
    bool keep_alive;      /* the connection stays open after the reply */
    bool says_keep;       /* HTTP/1.0 that asked for keep-alive: the reply must grant it */
    const char *bearer;   /* the token that it brings, among the bytes that were parsed */
    size_t bearer_length; /* 0: none, or more than one */
};

/* Bytes of the head that these begin with, its last line being empty; 0 if it is not complete.
 * Lines that end in a bare LF make one complete too: complete, and then malformed. */
size_t http_head_length(const char *bytes, size_t length);

/* Parses the complete head of `length` bytes, its last line being empty. Always fills *head: a bad
 * one becomes REQUEST_INVALID. keep_alive is false where the end of the request is not certain. */
void http_parse_head(const char *bytes, size_t length, struct http_head *head);

enum { HTTP_DATE_LENGTH = 29 };

/* The time as the Date header has it, HTTP_DATE_LENGTH bytes; this thread's until its next call. */
const char *http_date(void);

/* The first line of a reply, with its CR LF. */
const char *http_status_line(enum status status);

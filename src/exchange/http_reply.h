/* The head of an HTTP/1.1 reply. */
#pragma once
#include "service/request.h"

#include <stddef.h>

enum { HTTP_REPLY_HEAD_LIMIT = 512 };

/* Writes the head right before the body, of HTTP_REPLY_HEAD_LIMIT bytes at most; returns where it
 * begins. connection: what that header says; NULL: the connection stays open, which goes without
 * saying. */
char *http_put_reply_head(char *body, const struct request *request, enum status status,
                          size_t body_length, const char *connection);

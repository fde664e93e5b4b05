/* The head of an HTTP/1.1 reply. */
#pragma once
#include "service/request.h"

#include <stddef.h>

enum { HTTP_REPLY_HEAD_LIMIT = 512 };

/* Writes the head, at most HTTP_REPLY_HEAD_LIMIT bytes, directly before the body. Returns its
 * start. connection: value of the Connection header; NULL: no such header. */
char *http_put_reply_head(char *body, const struct request *request, enum status status,
                          size_t body_length, const char *connection);

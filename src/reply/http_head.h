/* Reads the head of an HTTP reply line by line (RFC 9112), as far as it says how the reply ends. */
#pragma once
#include "reply/rows.h"

struct http_head {
    uint64_t length; /* of the body, in bytes */
    bool length_known, chunked;
    bool close; /* the server will close the connection after this reply */
};

/* Reads the status line, "HTTP/1.x NNN ...". Returns false if it is not one. */
bool http_head_begin(struct http_head *head, struct slice line, unsigned *status);

/* Takes the next header line, but not the empty last one. Returns NULL, or what is wrong with it.
 */
const char *http_head_take(struct http_head *head, struct slice line);

/* Reads the head of an HTTP reply, line by line (RFC 9112): what of it says how the reply ends. */
#pragma once
#include "reply/rows.h"

struct http_head {
    uint64_t length; /* of the body */
    bool length_known, chunked;
    bool close; /* the server will close the connection after this reply */
};

/* Reads "HTTP/1.x NNN ...", the first line. False: it is none. */
bool http_head_begin(struct http_head *head, struct cursor line, unsigned *status);

/* Takes the next line, which is not the empty last one. Returns NULL, or a few words on what is
 * wrong with it. */
const char *http_head_take(struct http_head *head, struct cursor line);

/* Reads the head of an HTTP reply line by line (RFC 9112), as far as it says how the reply ends. */
#pragma once
#include "client/reply/rows.h"

struct http_head {
    uint64_t length; /* of the body, in bytes */
    bool length_known, chunked;
    bool close;      /* the server will close the connection after this reply ... */
    bool says_close; /* ... because it says so, whatever else it says */
};

/* Reads the status line, "HTTP/1.x NNN ...". Returns false if it is not one. */
bool http_head_begin(struct http_head *head, struct slice line, unsigned *status);

/* What must not be in a header's value. */
static inline bool http_is_control(char c) {
    return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7F;
}

/* Takes the next header line, but not the empty last one. Returns NULL, or what is wrong with it.
 */
const char *http_head_take(struct http_head *head, struct slice line);

/* Passes over a header line of which only the beginning is here. Returns NULL, or what is wrong:
 * the rest may matter. */
const char *http_head_pass(struct slice beginning);

/* Checks a reply of either dialect as its bytes arrive (docs/formats.md, "The wire").
 *
 * Sans-I/O: bytes in, a verdict out; no system call, no allocation, and the same verdict however
 * the bytes are split. Only a line that was split is copied. */
#pragma once
#include "base/dialect.h"
#include "base/text.h"
#include "reply/body.h"
#include "reply/http_head.h"
#include "reply/rows.h"
#include "reply/until.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum verdict {
    REPLY_INCOMPLETE,
    REPLY_COMPLETE,
    REPLY_MALFORMED, /* `problem` says what is wrong */
    REPLY_REFUSED,   /* an error reply: `line` holds its text, `line_length` bytes */
};

enum { REPLY_LINE_LIMIT = 1024 }; /* bytes of any line of a reply */

struct reply {
    enum dialect dialect;
    enum {
        REPLY_STATUS,
        REPLY_HEADERS,
        REPLY_OK,     /* line dialect: the answer to the token */
        REPLY_OK_END, /* ... and the empty line after it */
        REPLY_TITLE,
        REPLY_ROWS,
        REPLY_FIRST_LINE, /* line dialect: first line of an unchecked reply */
        REPLY_LINES,      /* ... the lines after it */
        REPLY_BODY,       /* HTTP: an unchecked body */
        REPLY_UNTIL,      /* everything up to a match of `until` */
    } expected;
    struct rows rows;
    uint64_t body_left; /* HTTP: bytes of the body to come */
    uint32_t head_bytes;
    struct http_head head;
    const char *problem;    /* a few words, once malformed */
    struct text *body_text; /* a copy of the body, to show it; NULL: not wanted */
    struct body body;       /* of an unchecked reply */
    const struct until *until;
    uint16_t status;  /* HTTP */
    bool any_success; /* HTTP: a status other than 200 may be right, too */
    bool is_to_head;  /* HTTP: the reply to HEAD has no body */
    bool is_cut;      /* with `until`: `line` holds only the last bytes of what has arrived */
    uint32_t line_length;
    char line[REPLY_LINE_LIMIT]; /* the part of a split line that has arrived */
};

/* Expects the reply to a request for `wanted` rows. 0: any reply, of which only the end and, in
 * HTTP, the status are checked; in the line dialect it ends with an empty line or with the
 * connection, and must not begin with `error:`. The body is appended to body_text unless that is
 * NULL. */
void reply_begin(struct reply *reply, enum dialect dialect, uint32_t wanted,
                 struct text *body_text);

/* Call after reply_begin: in the line dialect, the answer to `auth` precedes this reply. */
void reply_after_token(struct reply *reply);

/* Call after reply_begin: in HTTP, any status of success (2xx, 304) is right, and the reply may be
 * one to HEAD. */
void reply_to_listed(struct reply *reply, bool is_head);

/* Call after reply_begin: the reply ends where `until` first matches. */
void reply_until(struct reply *reply, const struct until *until);

/* Takes bytes of the reply. After a final verdict (not REPLY_INCOMPLETE) only reply_begin may
 * follow. Bytes after the end of the reply make it malformed. */
enum verdict reply_feed(struct reply *reply, const char *bytes, size_t length);

/* The connection has ended. Returns REPLY_COMPLETE and sets head.close if that ends the reply, else
 * REPLY_INCOMPLETE. */
enum verdict reply_end(struct reply *reply);

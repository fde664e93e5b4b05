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
        REPLY_FIRST_LINE, /* line dialect: of a reply that may be anything */
        REPLY_LINES,      /* ... and what follows it */
        REPLY_BODY,       /* HTTP: the same */
    } expected;
    struct rows rows;
    uint64_t body_left; /* bytes, in HTTP */
    uint32_t head_bytes;
    struct http_head head;
    const char *problem; /* a few words, once malformed */
    struct text *kept;   /* where the body's lines are kept to show them; NULL: nowhere */
    struct body body;    /* of a reply that may be anything */
    uint32_t line_length;
    char line[REPLY_LINE_LIMIT]; /* the received part of a split line */
};

/* Expects the reply to a request for `wanted` rows; 0: any reply. Of that only the end is checked
 * and, in HTTP, the status; in the line dialect it ends with an empty line, or with its connection,
 * and must not begin with `error:`. */
void reply_begin(struct reply *reply, enum dialect dialect, uint32_t wanted, struct text *kept);

/* After reply_begin: in the line dialect the answer to the token comes before this reply. */
void reply_after_token(struct reply *reply);

/* Takes bytes of the reply. After any verdict but incomplete only reply_begin may follow. Bytes
 * after the end of the reply make it malformed. */
enum verdict reply_feed(struct reply *reply, const char *bytes, size_t length);

/* The connection has ended: complete, and head.close is set, if that is what ends the reply; else
 * incomplete. */
enum verdict reply_end(struct reply *reply);

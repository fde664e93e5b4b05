/* Checks a reply of either dialect as its bytes arrive (docs/formats.md, "The wire").
 *
 * Sans-I/O: bytes in, a verdict out; no system call, no allocation, and the same verdict however
 * the bytes are split. Only a line that was split is copied. */
#pragma once
#include "base/dialect.h"
#include "base/text.h"
#include "client/reply/body.h"
#include "client/reply/http_head.h"
#include "client/reply/rows.h"
#include "client/reply/until.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum verdict {
    REPLY_INCOMPLETE,
    REPLY_COMPLETE,
    REPLY_MALFORMED, /* `problem` says what is wrong */
    REPLY_REFUSED,   /* an error reply: `line` holds its text, `line_length` bytes */
    REPLY_CHANGED,   /* not as `expectation` has it; expectation_explain says how */
};

enum {
    REPLY_LINE_LIMIT = 1024,      /* bytes of a line that are kept; only a head has longer ones */
    REPLY_HEAD_LIMIT = 64 * 1024, /* bytes of an HTTP head, with the interim ones before it */
};

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
    const struct expectation *expectation; /* NULL: none */
    struct body_digest digest;             /* if the digest is compared */
    struct events events;                  /* if they are counted */
    uint16_t status;                       /* HTTP */
    uint16_t status_wanted;                /* HTTP: the only right one; 0: any success */
    bool is_to_head;                       /* HTTP: the reply to HEAD has no body */
    bool is_digested, has_events;
    bool is_cut;          /* with `until`: `line` holds only the last bytes of what has arrived */
    bool after_cr;        /* a long line: its last byte so far was a CR */
    uint32_t left_out;    /* bytes of a long line that are not kept */
    uint32_t line_length; /* bytes of `line` */
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

/* Call after reply_begin: in HTTP, which status is right (0: any success, 2xx and 304), and whether
 * the reply is one to HEAD. */
void reply_to(struct reply *reply, uint16_t status_wanted, bool is_head);

/* Call after reply_begin, for a request that wants no rows: in HTTP, what the reply must be, and
 * whether its digest is compared too. */
void reply_expect(struct reply *reply, const struct expectation *expectation, bool is_digested);

/* Call after reply_begin, for a request that wants no rows: in HTTP, the body is a stream of
 * server-sent events with at least one. The reply is complete after `limit` of them, and nothing
 * else can then follow on an HTTP/1.1 connection; 0: at its end. */
void reply_count_events(struct reply *reply, uint32_t limit);

/* Call after reply_begin: the reply ends where `until` first matches. */
void reply_until(struct reply *reply, const struct until *until);

/* Call after reply_begin, in HTTP/2: a head with this status is here. The bytes of the body follow,
 * and reply_end when there are no more. An interim status (1xx) changes nothing. */
enum verdict reply_take_head(struct reply *reply, unsigned status);

/* Takes bytes of the reply. After a final verdict (not REPLY_INCOMPLETE) only reply_begin may
 * follow. Bytes after the end of the reply make it malformed. */
enum verdict reply_feed(struct reply *reply, const char *bytes, size_t length);

/* The connection has ended. If that ends the reply, sets head.close and returns REPLY_COMPLETE or
 * REPLY_CHANGED, else REPLY_INCOMPLETE. */
enum verdict reply_end(struct reply *reply);

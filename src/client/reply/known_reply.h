/* The last right reply to a question: the same bytes in answer to it are right again, and need not
 * be read. Servers repeat themselves, and reading a reply is most of what a client does itself. */
#pragma once
#include "client/reply/reply.h"

enum { KNOWN_REPLY_LIMIT = 4096 }; /* bytes */

struct known_reply {
    const void *question; /* NULL: no reply is known */
    uint32_t length;
    uint16_t status;
    struct http_head head;
    struct rows rows;
    char bytes[KNOWN_REPLY_LIMIT];
};

/* As reply_feed, for the first bytes of a reply. question: what it answers, only equal for replies
 * that were begun alike, except for their body_text and whether their digest is compared. If the
 * bytes are known, only what has a use after a complete reply is set: status, head and rows. */
enum verdict known_reply_feed(struct known_reply *known, const void *question, struct reply *reply,
                              const char *bytes, size_t length);

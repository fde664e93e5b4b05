/* Closing a connection without losing its last reply.
 *
 * Closing with unread bytes, or before more arrive, resets the connection, and a reset can overtake
 * the reply. So if the client may still be sending, only the sending side is ended, and what comes
 * is discarded until the client ends its side too (RFC 9112, 9.6), within limits. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct exchange;

enum {
    /* An initial receive buffer (tcp(7), tcp_rmem): as much as a client can have sent before the
     * first read. Not more, as a client that keeps sending would delay the others. */
    DISCARD_BYTES = 128 * 1024,
    LEAVING_MS = 1000,        /* how long a client may take to end its side */
    LEAVING_BYTES = 64 << 20, /* ... and what it may send meanwhile */
};

/* Before closing: whether to wait for the client's end. Then the sending side is ended. */
bool close_must_wait(int fd, const struct exchange *exchange);

/* Discards what has arrived, without blocking. *left: of LEAVING_BYTES. Returns 0: that was all so
 * far; 1: more may have arrived; -1: the client has ended its side, or the limit is reached. */
int close_discard(int fd, int32_t *left);

/* Both for blocking calls: returns when fd can be closed. */
void close_wait(int fd, const struct exchange *exchange);

/* For a client that is turned away: discards what has arrived, and closes at once. */
void close_refused(int fd);

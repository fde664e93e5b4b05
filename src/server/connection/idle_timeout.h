/* When a client is too slow: --idle-timeout, for every design.
 *
 * A client has that long to send a request, to finish one that it has begun, and to read the next
 * part of its replies; for all pending replies it has one second more per TAKEN_LEAST bytes.
 * Part of a request does not restart the timeout: otherwise a client that sends, or reads, a byte
 * at a time would hold its connection forever. answer_timeout answers a client that is too slow. */
#pragma once
#include "base/clock.h"
#include "server/options.h"

struct exchange;

enum { TAKEN_LEAST = 32 * 1024 }; /* bytes of replies that a client must read in a second */

/* To ask before a client without pending replies is closed: whether input has arrived that was not
 * read yet. Then the server is late, not the client. One system call, but only past a deadline. */
bool idle_input_waits(int fd);

/* To call after each attempt to send: whether the client reads its replies too slowly as a whole,
 * though each part in time. *begun_ns is since when replies are pending; 0 before the first call,
 * and while none is. Found only when the client reads a part, so up to --idle-timeout late. */
bool idle_reply_is_late(const struct exchange *exchange, const struct options *options,
                        int64_t now_ns, int64_t *begun_ns);

/* ---- Blocking calls ---- */

/* To call after each read: whether a request takes too long as a whole, though each byte came in
 * time. *begun_ns is when its first part was seen; 0 before the first call. */
bool idle_request_is_late(const struct exchange *exchange, const struct options *options,
                          int64_t *begun_ns);

/* ---- Event loops ---- */

/* Whether a turn restarts its client's timeout. was_partial: a request had begun before it;
 * answered: requests answered in it. */
static inline bool idle_restarts(bool was_partial, unsigned answered) {
    return !was_partial || answered > 0;
}

/* The deadline of a client that was last active at active_ns; both CLOCK_MONOTONIC. */
static inline int64_t idle_deadline_ns(const struct options *options, int64_t active_ns) {
    return active_ns + options->idle_timeout_ms * NS_PER_MS;
}

/* For select, poll and the like: milliseconds until a deadline, 0 if it has passed. */
int idle_left_ms(int64_t deadline_ns, int64_t now_ns);

/* How late the deadline may be checked, so that a busy connection is not rescheduled for each
 * request. */
static inline int64_t idle_tolerance_ns(const struct options *options) {
    return options->idle_timeout_ms * NS_PER_MS / 16;
}

/* When a client is too slow: --idle-timeout, decided here for every design.
 *
 * A client has that long to send a request, to finish one that it has begun, and to take the next
 * part of its replies; and for the whole of them, so long and a second for each TAKEN_LEAST bytes.
 * A part of a request restarts nothing: one that arrives a byte at a time would hold its connection
 * for ever, and so would replies that are taken a byte at a time. What is said to a client that is
 * too slow: answer_timeout. */
#pragma once
#include "base/clock.h"
#include "server/options.h"

struct exchange;

enum { TAKEN_LEAST = 32 * 1024 }; /* bytes of replies that a client takes in a second, at least */

/* After each attempt to send, in every design: whether the client takes its replies too slowly,
 * although each part of them in time. *begun_ns is when some had to wait for it; 0 before the
 * first call, and while none waits. Found when it takes a part, so up to --idle-timeout later. */
bool idle_reply_is_late(const struct exchange *exchange, const struct options *options,
                        int64_t now_ns, int64_t *begun_ns);

/* ---- Blocking calls ---- */

/* On a listener: the calls on its connections, which inherit it, end with EAGAIN after so long.
 * Returns 0 or -errno. */
int idle_timeout_set(int fd, const struct options *options);

/* After each call: whether the request that has begun takes too long, although every byte of it
 * came in time. *begun_ns is when it was first seen; 0 before the first call. */
bool idle_request_is_late(const struct exchange *exchange, const struct options *options,
                          int64_t *begun_ns);

/* ---- Event loops ---- */

/* Whether a turn restarts the time of its client. was_partial: a request had begun before it;
 * answered: requests answered in it. */
static inline bool idle_restarts(bool was_partial, unsigned answered) {
    return !was_partial || answered > 0;
}

/* When a client that was last active at active_ns is too slow; both CLOCK_MONOTONIC. */
static inline int64_t idle_deadline_ns(const struct options *options, int64_t active_ns) {
    return active_ns + options->idle_timeout_ms * NS_PER_MS;
}

/* For select, poll and the like: milliseconds until then, 0 if it is over. */
int idle_left_ms(const struct options *options, int64_t active_ns, int64_t now_ns);

/* How much later than that it may be found, so that a busy connection need not be noted for each
 * request. */
static inline int64_t idle_tolerance_ns(const struct options *options) {
    return options->idle_timeout_ms * NS_PER_MS / 16;
}

/* What a loop on io_uring does with a connection when one of its operations completes: it answers
 * requests, has the replies sent, and closes it when no operation is under way. */
#pragma once
#include "uring/entries.h"

/* A receive has completed, with this result and these flags. */
void uring_received(struct uring_loop *loop, struct uring_connection *connection, int result,
                    uint32_t flags);

/* A send has completed: bytes or -errno. */
void uring_sent(struct uring_loop *loop, struct uring_connection *connection, int result);

/* Its turn has come, for which it was queued: more was to be answered once its replies were sent.
 */
void uring_serve(struct uring_loop *loop, struct uring_connection *connection);

/* It has been idle for --idle-timeout. */
void uring_time_out(struct uring_loop *loop, struct uring_connection *connection);

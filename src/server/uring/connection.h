/* What an io_uring loop does when an operation of a connection completes: answer requests, send the
 * replies, and close the connection once no operation is in flight. */
#pragma once
#include "server/uring/submissions.h"

/* A receive has completed. result and flags: of the completion. */
void uring_received(struct uring_loop *loop, struct uring_connection *connection, int result,
                    uint32_t flags);

/* A send has completed. result: bytes or -errno. */
void uring_sent(struct uring_loop *loop, struct uring_connection *connection, int result);

/* The turn of a queued connection: requests had to wait until earlier replies were sent. */
void uring_serve(struct uring_loop *loop, struct uring_connection *connection);

/* The connection has been idle for --idle-timeout. */
void uring_time_out(struct uring_loop *loop, struct uring_connection *connection);

/* What a loop on io_uring does with a connection when something of it is complete: it answers what
 * has come, has that sent, and ends it when nothing of it is under way any longer. */
#pragma once
#include "designs/uring_entries.h"

/* Receiving has brought something, or ended: what the completion says. */
void uring_received(struct uring_loop *loop, struct uring_connection *connection, int result,
                    uint32_t flags);

/* `result` bytes were sent, or -errno. */
void uring_sent(struct uring_loop *loop, struct uring_connection *connection, int result);

/* It has been silent for --idle-timeout. */
void uring_time_out(struct uring_loop *loop, struct uring_connection *connection);

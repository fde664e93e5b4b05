/* One turn of a conversation that never blocks: what every event loop does that is told when a
 * socket is ready (select, poll, epoll). How it is told is the design's. The sockets themselves
 * block; each call says MSG_DONTWAIT, which saves a system call a connection. */
#pragma once
#include "server/connections.h"
#include "server/server.h"

enum interest {
    INTEREST_READ,  /* tell me when there is something to read */
    INTEREST_WRITE, /* ... when there is room to write: the client takes its replies slowly, or has
                     * asked for more than is answered in one turn */
    INTEREST_NONE,  /* it is over: close it */
};

/* Accepts a connection for an event loop, within --max-connections. Returns its descriptor; -EAGAIN
 * if none waits. */
int readiness_accept(struct server *server, const struct connections *connections);

/* Reads once if `can_read`, answers what is complete, up to REQUEST_BATCH, and writes what can be
 * written. Notes the time in the connection unless all that came is more of an unfinished request.
 */
enum interest readiness_serve(struct server *server, struct connections *connections,
                              struct connection *connection, bool can_read);

/* The connection has been silent for --idle-timeout. */
enum interest readiness_time_out(struct server *server, struct connection *connection);

/* One turn of a conversation on a nonblocking socket: what every event loop does that is told when
 * a socket is ready (select, poll, epoll). How it is told is the design's. */
#pragma once
#include "server/connections.h"
#include "server/server.h"

enum interest {
    INTEREST_READ,  /* tell me when there is something to read */
    INTEREST_WRITE, /* ... when there is room to write: the client reads more slowly than we reply
                     */
    INTEREST_NONE,  /* it is over: close it */
};

/* Accepts a connection for an event loop, within --max-connections. Returns its descriptor, which
 * does not block; -EAGAIN if none waits. */
int readiness_accept(struct server *server, const struct connections *connections);

/* Reads once if `can_read`, answers what is complete, writes what can be written. */
enum interest readiness_serve(struct server *server, struct connection *connection, bool can_read);

/* The connection has been silent for --idle-timeout. */
enum interest readiness_time_out(struct server *server, struct connection *connection);

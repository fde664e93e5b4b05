/* One turn of a conversation that never blocks: what every event loop does with a socket that is
 * ready (select, poll, epoll). */
#pragma once
#include "server/connections.h"
#include "server/server.h"

/* What to do next about a connection. */
enum interest {
    INTEREST_READ,  /* wait until there is something to read */
    INTEREST_WRITE, /* ... until there is room to write: the client takes its replies slowly */
    INTEREST_AGAIN, /* nothing: there is more to do than is done in one turn */
    INTEREST_NONE,  /* it is over: close it */
};

/* Reads once if the connection's `can_read` says so, answers what is complete, up to REQUEST_BATCH,
 * and writes what can be written. Clears can_read when nothing is left to read. now_ns is noted as
 * the connection's last sign of life unless all that came is more of an unfinished request. */
enum interest readiness_serve(struct server *server, struct connections *connections,
                              struct connection *connection, int64_t now_ns);

/* The two halves of it, for a design that has others answer. Both return 0 or -errno; -EAGAIN from
 * _send: some is left. */
int readiness_receive(struct connection *connection);
int readiness_send(struct connection *connection);

/* What to wait for after readiness_send returned `sent` and nothing is left to answer. */
enum interest readiness_next(struct server *server, struct connection *connection, int sent);

/* The connection has been silent for --idle-timeout. */
enum interest readiness_time_out(struct server *server, struct connection *connection);

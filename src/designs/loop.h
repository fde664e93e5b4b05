/* A readiness loop: what every event loop does that is told when a socket is ready. It accepts,
 * serves whoever is ready, gives up whoever is silent, and drains.
 *
 * How it is told is the design's: a struct poller, the same functions in the same order in each
 * file. The sockets themselves block; each call says MSG_DONTWAIT, which saves a system call a
 * connection. */
#pragma once
#include "designs/readiness.h"
#include "server/connections.h"
#include "server/server.h"

#include <stdint.h>

struct loop;

struct poller {
    /* Watches the listener and stop_fd. Returns 0 or -errno. */
    int (*open)(struct loop *loop);
    void (*close)(struct loop *loop);

    /* From now on watches the connection for its `interest`. Returns 0 or -errno. */
    int (*add)(struct loop *loop, struct connection *connection);
    /* ... for its `interest`, which has changed. */
    void (*change)(struct loop *loop, struct connection *connection);
    /* No longer; it is about to be closed. */
    void (*remove)(struct loop *loop, struct connection *connection);
    /* Neither the listener nor stop_fd any longer: the loop drains. */
    void (*ignore_listener)(struct loop *loop);

    /* Waits until something is ready, wait_ms at most (-1: without end). Returns 0 or -errno. */
    int (*wait)(struct loop *loop, int wait_ms);
    /* Hands all that is ready to loop_accept and loop_serve. */
    void (*dispatch)(struct loop *loop);
};

struct loop {
    const struct poller *poller;
    /* One turn of a conversation: readiness_serve, or what a design does instead. */
    enum interest (*serve)(struct loop *loop, struct connection *connection);
    struct server *server;
    int fd_limit; /* no descriptor of a connection may reach it; 0: no limit */

    struct connections connections;
    struct connection *again; /* those whose turn comes again at once */
    int64_t now_ns;           /* CLOCK_MONOTONIC, as of the last wait */
    unsigned singles;         /* so many clients are still accepted one at a time */
};

/* Serves until the server is told to stop, then drains. `loop` begins with the first four members
 * set. Returns 0 or -errno. */
int loop_run(struct loop *loop);

/* For dispatch: a client waits to be accepted; a connection is ready. */
void loop_accept(struct loop *loop);
void loop_serve(struct loop *loop, struct connection *connection);

/* Serves it after all that are ready now: the only way to serve one that was not itself found
 * ready, for dispatch may be about to hand that one over. */
void loop_serve_later(struct loop *loop, struct connection *connection);

/* The `serve` of a design that answers in the loop itself. */
enum interest loop_converse(struct loop *loop, struct connection *connection);

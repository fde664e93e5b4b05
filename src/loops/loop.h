/* What all event loops share, whatever they wait with: accepting clients, closing idle connections,
 * taking turns, draining. */
#pragma once
#include "loops/connections.h"
#include "server/server.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct loop;

/* What differs between them. */
struct loop_kind {
    size_t connection_size; /* bytes of its own struct, which begins with a struct connection */

    /* Starts watching for clients and for a stop. Returns 0 or -errno. */
    int (*open)(struct loop *loop);
    void (*close)(struct loop *loop);
    /* A client was accepted. */
    void (*begin)(struct loop *loop, struct connection *connection);
    /* A connection has been idle for --idle-timeout, or leaving for LEAVING_MS. */
    void (*time_out)(struct loop *loop, struct connection *connection);
    /* The same, but its input waits to be read. NULL: an event will tell. */
    void (*spare)(struct loop *loop, struct connection *connection);
    /* A queued connection has its turn. */
    void (*serve)(struct loop *loop, struct connection *connection);
    /* Waits once, for at most wait_ms (-1: until the next idle timeout), handles everything that is
     * ready, then serves the queue. Returns 0 or -errno. */
    int (*turn)(struct loop *loop, int wait_ms);
    /* Stops watching for clients and for a stop. */
    void (*stop_accepting)(struct loop *loop);
    /* From now on, only input that has already arrived is read. */
    void (*end_reading)(struct loop *loop);
};

/* Where the loops of several threads, and the thread that started them, wait until all are open: no
 * loop serves before, as early clients could take the last descriptors. */
struct opening {
    pthread_barrier_t all;
    _Atomic int error; /* 0, or -errno of one that could not open */
};

struct loop {
    const struct loop_kind *kind;
    struct server *server;
    struct opening *opening; /* NULL: the only loop */
    int fd_limit;            /* descriptors must be below it; 0: no limit */
    struct connections connections;
    /* Connections that get another turn without being ready, in order. */
    struct connection *queued, *last_queued;
    int64_t now_ns;           /* CLOCK_MONOTONIC, after the last wait */
    int64_t failing_since_ns; /* ... of the first in a row of failed waits; 0: the last succeeded */
};

/* Serves until the server is stopped, then drains. The caller sets `kind` and `server`. Returns 0
 * or -errno. */
int loop_run(struct loop *loop);

/* Accepts at most `limit` waiting clients without blocking. Returns how many. */
int loop_accept(struct loop *loop, int limit);

/* Adds an accepted client, or refuses it if a limit is reached. */
void loop_add_client(struct loop *loop, int fd);

/* Queues the connection for another turn, after all that are ready now or were queued before. It
 * must not be removed until then. */
void loop_serve_later(struct loop *loop, struct connection *connection);

/* For `turn`, after everything that was ready: serves the queued connections, but for at most
 * TURN_US, so that connections which have become ready since need not wait for the rest. What is
 * queued meanwhile has its turn after the next wait. */
void loop_serve_queued(struct loop *loop);

/* For `turn`, after each wait, with its result: 0 or -errno. The kernel may be short of memory for
 * a moment: backs off and returns 0, so that the loop continues. If waits keep failing, it returns
 * the error, and the server ends. */
int loop_waited(struct loop *loop, int error);

/* Milliseconds until the next idle timeout; -1: no connection is open. */
int loop_idle_ms(const struct loop *loop);

/* The same, but at most wait_ms; -1: no limit. */
int loop_wait_ms(const struct loop *loop, int wait_ms);

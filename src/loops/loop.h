/* What all event loops share, whatever they wait with: accepting clients, closing idle connections,
 * draining. */
#pragma once
#include "loops/connections.h"
#include "server/server.h"

#include <pthread.h>
#include <stdint.h>

struct loop;

/* What differs between them. */
struct loop_kind {
    size_t connection_size; /* of its own struct, which begins with a struct connection */

    /* Starts waiting for clients and for the stop. Returns 0 or -errno. */
    int (*open)(struct loop *loop);
    void (*close)(struct loop *loop);
    /* A client was accepted. */
    void (*begin)(struct loop *loop, struct connection *connection);
    /* A connection has been idle for --idle-timeout. */
    void (*time_out)(struct loop *loop, struct connection *connection);
    /* Another turn of a connection that was queued. */
    void (*serve)(struct loop *loop, struct connection *connection);
    /* Waits once and handles all that is ready, then the queue. Waits wait_ms at most; -1: until
     * the next idle timeout. Returns 0 or -errno. */
    int (*turn)(struct loop *loop, int wait_ms);
    /* Stops waiting for clients and for the stop. */
    void (*stop_accepting)(struct loop *loop);
    /* From now on only what has already arrived is read, and then the end. */
    void (*end_reading)(struct loop *loop);
};

struct loop {
    const struct loop_kind *kind;
    struct server *server;
    pthread_barrier_t *opening; /* shared by the loops of several threads; NULL: the only loop */
    int fd_limit;               /* descriptors must be below it; 0: no limit */
    struct connections connections;
    /* Those that have another turn without being ready, in their order. */
    struct connection *queued, *last_queued;
    int64_t now_ns;           /* CLOCK_MONOTONIC, as of the last wait */
    int64_t failing_since_ns; /* ... of the first wait that failed; 0: the last did not */
};

/* Serves until the server is told to stop, then drains. `loop` begins with `kind` and `server`.
 * Returns 0 or -errno. */
int loop_run(struct loop *loop);

/* Accepts waiting clients, `limit` at most, without blocking. Returns how many. */
int loop_accept(struct loop *loop, int limit);

/* Adds an accepted client, or refuses it at a limit. */
void loop_welcome(struct loop *loop, int fd);

/* Gives the connection a turn after all that are ready now or were queued before. It must not be
 * removed until then. */
void loop_serve_later(struct loop *loop, struct connection *connection);

/* For `turn`, after all that was ready: serves those that were queued before, for a while at most,
 * however many there are: whoever has become ready meanwhile comes before the rest. Those that are
 * queued now have their turn after the next wait. */
void loop_serve_queued(struct loop *loop);

/* For `turn`, after each wait, with 0 or its -errno. The kernel may be short of memory for a
 * moment: returns 0 after a pause, and the loop goes on. What lasts will not come right: returns
 * the error, and the server ends. */
int loop_waited(struct loop *loop, int error);

/* Milliseconds until the next idle timeout; -1: there is no connection. */
int loop_idle_ms(const struct loop *loop);

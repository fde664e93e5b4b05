/* What every event loop does, however it learns what happens: accepts clients, closes those that
 * have been silent for too long, and drains. */
#pragma once
#include "server/connections.h"
#include "server/server.h"

#include <pthread.h>
#include <stdint.h>

struct loop;

/* What tells one loop from another. */
struct loop_kind {
    size_t connection_size; /* of its struct, which begins with a struct connection */

    /* Waits for clients and for the stop from now on. Returns 0 or -errno. */
    int (*open)(struct loop *loop);
    void (*close)(struct loop *loop);
    /* The client was accepted just now. */
    void (*begin)(struct loop *loop, struct connection *connection);
    /* ... has been silent for --idle-timeout. */
    void (*time_out)(struct loop *loop, struct connection *connection);
    /* Waits once, and does all that came of it: wait_ms at most, or until the next client has been
     * silent for too long (-1). Returns 0 or -errno. */
    int (*turn)(struct loop *loop, int wait_ms);
    /* Waits for clients and for the stop no longer: the loop drains. */
    void (*stop_accepting)(struct loop *loop);
};

struct loop {
    const struct loop_kind *kind;
    struct server *server;
    pthread_barrier_t *opening; /* where the loops of several threads meet; NULL: it is alone */
    int fd_limit;               /* no descriptor of a connection may reach it; 0: no limit */
    struct connections connections;
    int64_t now_ns; /* CLOCK_MONOTONIC, as of the last wait */
};

/* Serves until the server is told to stop, then drains. `loop` begins with `kind` and `server`.
 * Returns 0 or -errno. */
int loop_run(struct loop *loop);

/* Accepts those who wait, `limit` at most, without waiting itself. Returns how many. */
int loop_accept(struct loop *loop, int limit);

/* Takes in a client that was accepted. */
void loop_welcome(struct loop *loop, int fd);

/* Milliseconds until a client will have been silent for too long; -1: there is none. */
int loop_idle_ms(const struct loop *loop);

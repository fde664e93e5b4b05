/* What all event loops share, whatever they wait with: accepting clients, closing idle connections,
 * taking turns, draining. A loop calls these functions; none of them calls a loop. */
#pragma once
#include "server/loops/connections.h"
#include "server/server.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/* Where the loops of several threads, and the thread that started them, wait until all are open: no
 * loop serves before, as early clients could take the last descriptors. */
struct opening {
    pthread_barrier_t all;
    _Atomic int error; /* 0, or -errno of one that could not open */
};

struct loop {
    struct server *server;
    struct opening *opening; /* NULL: the only loop */
    int fd_limit;            /* descriptors must be below it; 0: no limit */
    struct connections connections;
    /* Connections that get another turn without being ready, in order. */
    struct connection *queued, *last_queued;
    int64_t now_ns;           /* CLOCK_MONOTONIC, after the last wait */
    int64_t failing_since_ns; /* ... of the first in a row of failed waits; 0: the last succeeded */
    bool is_draining;         /* accepts no more */
    bool has_ended_reading;   /* ... and reads only what has already arrived */
};

/* Begins to serve. error: 0, or -errno if the loop could not open what it waits with. Returns it,
 * when all loops have come here. */
int loop_open(struct loop *loop, size_t connection_size, int error);

/* Closes the connections that are left, past the drain limit. */
void loop_close(struct loop *loop);

/* ---- Each turn ---- */

/* After each wait, with its result: 0 or -errno. The kernel may be short of memory for a moment:
 * backs off and returns 0, so that the loop continues. If waits keep failing, it returns the error,
 * and the server ends. */
int loop_waited(struct loop *loop, int error);

/* Adds an accepted client. NULL: a limit is reached, and it was refused. */
struct connection *loop_add_client(struct loop *loop, int fd);

/* Queues the connection for another turn, after all that are ready now or were queued before. It
 * must not be removed until then. */
void loop_serve_later(struct loop *loop, struct connection *connection);

/* After everything that was ready: serves the queued connections, but for at most TURN_US, so that
 * connections which have become ready since need not wait for the rest. What is queued meanwhile
 * has its turn after the next wait. */
void loop_serve_queued(struct loop *loop,
                       void (*serve)(struct loop *loop, struct connection *connection));

/* At the end of a turn: the next connection that has been idle for --idle-timeout, or leaving for
 * LEAVING_MS. If it was_spared its input waits to be read: then the loop is late, not the client.
 * NULL: there is none. */
struct connection *loop_next_late(struct loop *loop);

/* Milliseconds that the next wait may take: until the next idle timeout, the next step of a drain;
 * 0 if connections are queued, -1: no limit. */
int loop_wait_ms(const struct loop *loop);

/* ---- Draining, once a stop is requested ---- */

/* Each is true once: when to stop accepting, having accepted the clients that wait; and, after
 * HEARING_S, when to end the reading. */
bool loop_must_stop_accepting(struct loop *loop);
bool loop_must_end_reading(struct loop *loop);

/* Everything is answered, or the drain limit is reached. */
bool loop_is_over(const struct loop *loop);

/* Milliseconds until the next step of the drain; -1: it has not begun. */
int loop_drain_ms(const struct loop *loop);

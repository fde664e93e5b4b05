/* One turn of a connection: read, answer, write, without blocking. The sockets are blocking ones;
 * MSG_DONTWAIT in each call saves a system call for each connection. */
#pragma once
#include "loops/loop.h"

/* What comes after a turn. */
enum next {
    NEXT_READ,   /* wait until it is readable */
    NEXT_WRITE,  /* wait until it is writable: the client reads its replies slowly */
    NEXT_TURN,   /* another turn: there was more to do than one does */
    NEXT_ANSWER, /* no turn until a worker has answered (reactor_serve_later) */
    NEXT_CLOSE,  /* it is over */
};

/* A connection of a reactor. */
struct polled {
    struct connection base;
    bool is_watched;     /* registered with the poller */
    bool is_for_writing; /* ... for that and not for reading */
    bool can_read;       /* there may be something to read */
    bool is_shut;        /* ... and the end after it: the client has closed or reset it */
    bool is_busy;        /* NEXT_ANSWER */
};

/* Reads once if `can_read`, answers the complete requests, up to REQUEST_BATCH, and writes what can
 * be written. Clears can_read when nothing is left to read. Restarts the idle timeout as
 * idle_restarts says. */
enum next turn_serve(struct loop *loop, struct polled *connection);

/* The parts, for a design whose workers answer. Both return 0 or -errno; turn_send: -EAGAIN if some
 * is left. */
int turn_receive(struct polled *connection);
int turn_send(struct polled *connection);

/* What comes next when nothing is left to answer and turn_send returned `sent`. */
enum next turn_next(struct loop *loop, struct polled *connection, int sent);

/* The connection has been idle for --idle-timeout. */
enum next turn_time_out(struct loop *loop, struct polled *connection);

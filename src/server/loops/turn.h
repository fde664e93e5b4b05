/* One turn of a connection: read, answer and write without blocking. The sockets are blocking ones,
 * because all designs accept in the same way: here each call has MSG_DONTWAIT, which costs nothing.
 */
#pragma once
#include "server/loops/loop.h"

/* What happens after a turn. */
enum next {
    NEXT_READ,   /* wait until it is readable */
    NEXT_WRITE,  /* wait until it is writable: the client reads its replies slowly */
    NEXT_TURN,   /* another turn: there is more to do than one turn allows */
    NEXT_ANSWER, /* no turn until a worker has answered (reactor_serve_later) */
    NEXT_CLOSE,
};

/* Reads once if `can_read`, answers up to REQUEST_BATCH complete requests, and writes what the
 * socket takes. Clears can_read when nothing is left to read. Restarts the idle timeout if
 * idle_restarts says so. */
enum next turn_serve(struct loop *loop, struct connection *connection);

/* Its two halves, for a design whose threads share a loop: the exchange of bytes, which touches
 * nothing that connections share but the exchange's pool; and what the loop makes of it. */
struct turn_outcome {
    bool was_partial, was_held_back; /* before: part of a request; output was left */
    int received, sent;              /* what turn_receive and turn_send returned */
    unsigned answered;
};
struct turn_outcome turn_exchange(struct server *server, struct connection *connection,
                                  int64_t now_ns);
enum next turn_end(struct loop *loop, struct connection *connection, struct turn_outcome outcome);

/* Steps of it, for a design whose workers answer. Both return 0 or -errno; turn_send returns
 * -EAGAIN if output is left. */
int turn_receive(struct connection *connection);
int turn_send(struct connection *connection);

/* What to do next when nothing is left to answer. sent: the result of turn_send. */
enum next turn_next(struct loop *loop, struct connection *connection, int sent);

/* A turn of a connection that is leaving. */
enum next turn_discard(struct connection *connection);

/* The connection has been idle for --idle-timeout. */
enum next turn_time_out(struct loop *loop, struct connection *connection);

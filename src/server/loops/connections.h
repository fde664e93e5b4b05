/* The open connections of an event loop, longest idle first. Every operation is O(1). */
#pragma once
#include "service/exchange/exchange.h"

#include <stdbool.h>
#include <stdint.h>

struct server;

/* The loop on io_uring needs more, and has its own struct, which begins with this one. */
struct connection {
    struct connection *older, *newer;
    struct connection *next_queued; /* loop_serve_later */
    struct exchange exchange;
    /* Used in each turn. */
    int64_t listed_ns;       /* CLOCK_MONOTONIC, when it was put at its place in the list */
    int64_t active_ns;       /* ... when it last received or sent */
    int64_t unsent_since_ns; /* ... since when output has been blocked; 0: it is not */
    int fd;
    int32_t discard_left; /* if leaving: of what it may still send */
    uint32_t watched;     /* events that a reactor watches; 0: none yet */
    bool can_read;        /* there may be something to read */
    bool peer_closed;     /* ... and then the end: the client has closed or reset the connection */
    bool is_queued;       /* it gets another turn, ready or not */
    bool is_leaving : 1;  /* everything is sent: only the client's end is awaited */
    bool must_close : 1;  /* close it as soon as nothing else refers to it */
    bool was_spared : 1; /* past its deadline, as more of its request had arrived; once a request */
    bool awaits_worker : 1; /* no turn until a worker has answered, or served it */
    bool has_asked : 1;     /* a worker was given its first request */
};

struct connection_list {
    struct connection *oldest, *newest;
};

struct connections {
    struct server *server;
    size_t size;                 /* of a connection's struct */
    struct connection_list open; /* longest idle first */
    struct connection_list leaving;
    unsigned count;
    struct buffer_pool buffers; /* of their exchanges; freed with the last connection */
    /* A design's own part of a connection ends before it; NULL: none. */
    void (*forget)(struct connections *connections, struct connection *connection);
    void *owner; /* for it */
};

/* Makes an empty list, whose `forget` stays. size: bytes of a connection's struct. */
void connections_open(struct connections *connections, struct server *server, size_t size);

/* Adds and counts a connection, which then owns the descriptor; the other fields are zero.
 * Returns NULL, and changes nothing, if all workers together have --max-connections or memory ran
 * out. */
struct connection *connections_add(struct connections *connections, int fd, int64_t now_ns);

/* Notes that something was received or sent. The connection moves to the end of the list only if
 * its last move was more than idle_tolerance_ns ago: a busy connection does not move with each
 * request, and the list is out of order by no more than that. */
void connections_touch(struct connections *connections, struct connection *connection,
                       int64_t now_ns);

/* From now on only its client's end is awaited (close_connection.h), for LEAVING_MS. Repeated for
 * one already leaving, that time begins anew. */
void connections_leave(struct connections *connections, struct connection *connection,
                       int64_t now_ns);

/* When the next one is to be closed: CLOCK_MONOTONIC; INT64_MAX: there is none. */
int64_t connections_deadline_ns(const struct connections *connections);

/* Closes and frees the connection. */
void connections_remove(struct connections *connections, struct connection *connection);

/* On a stop: from now on only input that has already arrived can be read. */
void connections_shut_reading(const struct connections *connections);

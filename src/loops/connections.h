/* The open connections of an event loop, the longest idle first. Every operation is O(1). */
#pragma once
#include "exchange/exchange.h"

#include <stdbool.h>
#include <stdint.h>

struct server;

/* A loop that needs more has its own struct that begins with this one. */
struct connection {
    struct connection *older, *newer;
    struct connection *next_queued; /* loop_serve_later */
    struct exchange exchange;
    /* What each turn needs, beside what the loop adds. */
    int64_t listed_ns; /* CLOCK_MONOTONIC, when it got its place in the list */
    int64_t active_ns; /* ... when something came or went */
    int64_t owed_ns;   /* ... when replies had to wait for the client; 0: none wait */
    int fd;
    bool is_over;   /* to be closed as soon as nothing else refers to it */
    bool is_queued; /* another turn is due, whatever comes for it */
};

struct connections {
    struct server *server;
    size_t size; /* of the loop's own struct */
    struct connection *oldest, *newest;
    unsigned count;
    struct buffers buffers; /* of their exchanges; freed with the last connection */
};

/* None yet. */
struct connections connections_of(struct server *server, size_t size);

/* Adds and counts a connection, which owns the descriptor from then on; the loop's own part is all
 * zero. NULL, and nothing happened, if there are --max-connections in all workers together, or no
 * memory. */
struct connection *connections_add(struct connections *connections, int fd, int64_t now_ns);

/* Something was received or sent. The connection moves to the end of the list only if it was put
 * there more than idle_tolerance_ns ago. So the list is out of order by no more than that, and a
 * busy connection is not moved for each request. */
void connections_touch(struct connections *connections, struct connection *connection,
                       int64_t now_ns);

/* Closes it and frees it. */
void connections_remove(struct connections *connections, struct connection *connection);

/* The server stops: only what has already arrived will be read. */
void connections_shut_reading(const struct connections *connections);

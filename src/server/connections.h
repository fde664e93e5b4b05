/* The open connections of an event loop, the longest silent first. O(1) for everything. */
#pragma once
#include "exchange/exchange.h"

#include <stdint.h>

struct connection {
    int fd;
    int64_t active_ns; /* CLOCK_MONOTONIC */
    struct connection *older, *newer;
    struct exchange exchange;
};

struct connections {
    struct connection *oldest, *newest;
    unsigned count;
};

/* NULL if there is no memory. The descriptor is the connection's from here on. */
struct connection *connections_add(struct connections *connections, int fd, int64_t now_ns);

/* Something came or went. */
void connections_touch(struct connections *connections, struct connection *connection,
                       int64_t now_ns);

/* Closes it and frees it. */
void connections_remove(struct connections *connections, struct connection *connection);

/* For the timeout of select, poll and the like: milliseconds until the oldest has been silent for
 * limit_ms, 0 if it has, -1 if there is no connection. */
int connections_wait_ms(const struct connections *connections, int64_t now_ns, int64_t limit_ms);

/* The server stops: no connection will be read beyond what has come already. */
void connections_shut_reading(const struct connections *connections);

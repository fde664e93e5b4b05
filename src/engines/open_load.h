/* Open load: requests start when they are due, on whichever connection is free.
 *
 * Due requests that find no free connection wait in order; the schedule itself is the queue: it
 * points at the first request that has not started. A request's wait is split: for the client (a
 * connection was free and the client was late), or for the server (all connections were busy).
 *
 * A request that was due but had not started when the window ended gets a sample too: without it
 * the slowest would be missing. */
#pragma once
#include "engines/epoll_connection.h"

/* Connects connections that stay open, before the window. Returns 0 or -errno. */
int open_load_prepare(struct epoll_engine *e);
void open_load_begin(struct epoll_engine *e, int64_t start_ns);

/* Starts due requests while connections are free, at most `limit`. */
void open_load_start_due(struct epoll_engine *e, uint32_t limit);

/* When the next request can start; INT64_MAX: not before a connection is free. */
int64_t open_load_wake_ns(const struct epoll_engine *e);

/* Records the requests that were due and had not started when the window ended, at over_ns. To be
 * called when all others have ended, because it would delay their replies. */
void open_load_end(struct epoll_engine *e, int64_t over_ns);

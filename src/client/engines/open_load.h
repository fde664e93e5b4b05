/* Open load: requests start when they are due, on any free connection.
 *
 * Due requests that find no free connection wait in order; the schedule itself is the queue,
 * because it points to the first request that has not started. The waiting time is split: either a
 * connection was free and the client was late, or all connections were busy with the server.
 *
 * A request that was due but had not started when the window ended gets a sample too: otherwise the
 * slowest requests would be missing. */
#pragma once
#include "client/engines/epoll_connection.h"

/* Before the window: opens the connections, unless each request opens its own. Returns 0 or -errno.
 */
int open_load_prepare(struct epoll_engine *e);
void open_load_begin(struct epoll_engine *e, int64_t start_ns);

/* Starts at most `limit` due requests while connections are free. */
void open_load_start_due(struct epoll_engine *e, uint32_t limit);

/* When the next request can start, CLOCK_MONOTONIC; INT64_MAX: no connection is free. */
int64_t open_load_wake_ns(const struct epoll_engine *e);

/* Records the requests that were due but had not started when the window ended, at over_ns. To be
 * called when all others have ended, because it would delay their replies. */
void open_load_end(struct epoll_engine *e, int64_t over_ns);

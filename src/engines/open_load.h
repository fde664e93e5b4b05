/* Open load: requests start when they are due, on whichever connection is free.
 *
 * Those that are due and find none free wait in order, and the schedule itself is the queue: it
 * stands at the first request that has not started. What a request waited before it was sent is
 * told apart: for the client (a connection was free, or became free, and the client had not got to
 * it), or for the server (all connections were busy).
 *
 * What is due and has not started when the window ends gets a sample too: it has waited so long
 * already, and to leave it out would leave out the slowest. */
#pragma once
#include "engines/epoll_connection.h"

/* Connects what stays connected, before the window. 0 or -errno. */
int open_load_prepare(struct epoll_engine *e);
void open_load_begin(struct epoll_engine *e, int64_t start_ns);

/* Starts requests that are due while connections are free, `limit` at most. */
void open_load_start_due(struct epoll_engine *e, uint32_t limit);

/* When there will be something to start; INT64_MAX: not before a connection is free. */
int64_t open_load_wake_ns(const struct epoll_engine *e);

/* Records what was due and had not started when the window was over, at over_ns. Not before all
 * that was under way has ended: replies would wait for it. */
void open_load_end(struct epoll_engine *e, int64_t over_ns);

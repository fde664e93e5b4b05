/* The loop of one thread of the epoll engine, with its share of the load's connections. */
#pragma once
#include "client/engines/epoll_connection.h"

/* number: of the thread and its worker. NULL: no memory. */
struct epoll_engine *epoll_loop_open(struct load *load, uint32_t number);

/* Makes all connections that must exist before the window. Returns 0, or -errno and load->problem.
 */
int epoll_loop_connect(struct epoll_engine *e);

/* Runs its part of the load; the window begins at begin_ns, CLOCK_MONOTONIC. */
void epoll_loop_run(struct epoll_engine *e, int64_t begin_ns);

/* NULL is allowed. */
void epoll_loop_close(struct epoll_engine *e);

/* One request on a connection of the epoll engine. */
#pragma once
#include "client/engines/epoll_connection.h"

/* Starts a request, and connects first if necessary. Its latency counts from start_ns, its timeout
 * from now. */
void request_begin(struct epoll_engine *e, struct epoll_connection *c, int64_t start_ns);

/* Ends a request as failed. why: printable. */
void request_fail(struct epoll_engine *e, struct epoll_connection *c, enum outcome outcome,
                  const char *why);

/* Handles what epoll reported about a connection. */
void request_handle(struct epoll_engine *e, struct epoll_connection *c, uint32_t events);

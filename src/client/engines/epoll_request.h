/* One request on a connection of the epoll engine. */
#pragma once
#include "client/engines/epoll_connection.h"

/* Starts a request, and connects first if necessary. Its latency counts from start_ns, its timeout
 * from now. */
void request_begin(struct epoll_engine *e, struct epoll_connection *c, int64_t start_ns);

/* Ends a request as failed. why: printable. */
void request_fail(struct epoll_engine *e, struct epoll_connection *c, enum outcome outcome,
                  const char *why);

/* What of the request is sent. */
const struct text *request_form(const struct load *load, const struct epoll_connection *c);

/* Takes bytes of the reply, which arrived at e->now_ns. Returns whether a request is still open on
 * this connection. */
bool request_take(struct epoll_engine *e, struct epoll_connection *c, const char *bytes,
                  size_t length);

/* Notes the server-sent events that arrived at e->now_ns. */
void request_note_events(struct epoll_engine *e, struct epoll_connection *c);

/* Ends a request with a verdict that is not REPLY_INCOMPLETE; one whose connection has ended
 * (error: or failed), which may start it again; starts it again. */
bool request_conclude(struct epoll_engine *e, struct epoll_connection *c, enum verdict verdict);
void request_closed(struct epoll_engine *e, struct epoll_connection *c, int error);
void request_restart(struct epoll_engine *e, struct epoll_connection *c);

/* Handles what epoll reported about a connection. */
void request_handle(struct epoll_engine *e, struct epoll_connection *c, uint32_t events);

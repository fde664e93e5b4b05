/* What carries the requests of a connection over TLS, HTTP/2 or WebSocket. In HTTP/2 it has a slot
 * for each stream (--streams), an epoll_connection whose socket is the carrier's; else it has one.
 *
 * A slot whose request cannot be sent yet is CONNECTING. */
#pragma once
#include "client/engines/epoll_connection.h"

struct carrier;
struct carriage; /* of all threads: what the protocols need */

/* NULL, or why this build has none. */
const char *carriage_missing(void);

/* Prepares such a load. Returns 0, or -errno and load->problem. */
int carriage_open(struct load *load);
void carriage_close(struct load *load);

/* Gives each connection of the thread a carrier. Returns 0 or -ENOMEM. */
int carriers_open(struct epoll_engine *e);
void carriers_hang_up(struct epoll_engine *e);
void carriers_close(struct epoll_engine *e);

/* Connects before the window, as far as the handshake goes. Returns 0, -EINTR or another -errno. */
int carrier_connect(struct epoll_engine *e, struct epoll_connection *c);

/* Sends the slot's request on the open connection or a new one. */
void carrier_start(struct epoll_engine *e, struct epoll_connection *c);

/* Takes the slot off the connection, which ends unless other slots need it. */
void carrier_leave(struct epoll_connection *c);

/* Handles what epoll reported about the connection. */
void carrier_handle(struct epoll_engine *e, struct epoll_connection *c, uint32_t events);

/* Bytes of the slot's request that have not been sent. */
size_t carrier_unsent(const struct epoll_engine *e, const struct epoll_connection *c);

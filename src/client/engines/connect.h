/* Connecting the nonblocking sockets of the event-driven engine. */
#pragma once
#include "client/load/load.h"

/* Returns a socket for the target, bound to the next source address, or -errno. */
int connect_socket(const struct load *load, struct worker *worker);

/* Chooses the load's address: the first of those of its name where somebody accepts connections; if
 * nobody does, the first. */
void connect_choose(struct load *load, const struct address *list, unsigned count);

/* Begins to connect. Returns 0, or the -errno of an immediate failure. */
int connect_begin(const struct load *load, int fd);

/* Connects before the window, and waits for at most the load's timeout. Returns 0 or -errno
 * (-EINTR: the load must stop). */
int connect_wait(const struct load *load, int fd);

/* Connections of the event-driven engine: nonblocking from the start. */
#pragma once
#include "load/load.h"

/* A socket for the target, bound to the source whose turn it is. Returns it or -errno. */
int connect_socket(const struct load *load, struct worker *worker);

/* Begins to connect it. Returns 0, or -errno: an error that is known at once. */
int connect_begin(const struct load *load, int fd);

/* Begins, and waits until it is made, at most the load's timeout: for what is connected before
 * the window. Returns 0 or -errno; -EINTR: the load is to stop. */
int connect_wait(const struct load *load, int fd);

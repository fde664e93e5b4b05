/* Connections of the event-driven engine: nonblocking from the start. */
#pragma once
#include "load/load.h"

/* Returns a socket for the target, bound to the next source, or -errno. */
int connect_socket(const struct load *load, struct worker *worker);

/* Begins to connect it. Returns 0, or the -errno of an immediate error. */
int connect_begin(const struct load *load, int fd);

/* Connects it before the window: waits at most the load's timeout. Returns 0 or -errno; -EINTR: the
 * load must stop. */
int connect_wait(const struct load *load, int fd);

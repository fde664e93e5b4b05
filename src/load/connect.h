/* Connections of the event-driven engine: nonblocking from the start. */
#pragma once
#include "load/load.h"

/* Begins to connect to the target. Returns the socket, or -errno: an error that is known at once.
 */
int connect_begin(const struct load *load);

/* The same, and waits until it is made, at most the load's timeout. Returns the socket or -errno;
 * -EINTR: the load is to stop. For what is opened before the window. */
int connect_wait(const struct load *load);

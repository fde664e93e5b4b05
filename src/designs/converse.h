/* A whole conversation on a blocking socket: what the designs do that give each client a process
 * or a thread, or serve one client at a time. */
#pragma once
#include "server/server.h"

#include <stdbool.h>

/* Reads, answers and writes until the client is done, silent for too long, or gone. Returns whether
 * it was refused, which hang_up wants to know: the caller closes fd. */
bool converse(struct server *server, int fd);

/* The same for a process that serves one client at a time: a stop ends the reading (stop.h). Closes
 * fd, and until then counts it as open. */
void converse_alone(struct server *server, int fd);

/* ... without that, where somebody else counts. */
void converse_uncounted(struct server *server, int fd);

/* A whole conversation on a blocking socket, for designs that give each client a process or a
 * thread or serve one client at a time. */
#pragma once
#include "server/server.h"

#include <stdbool.h>

/* Reads, answers and writes until the client is done, idle for too long, or gone. Returns whether
 * it was refused, which close_connection needs: the caller closes fd. */
bool converse(struct server *server, int fd);

/* The same for a process that serves one client at a time: a stop ends the reading (stop.h). Counts
 * the connection as open until it closes fd. */
void converse_alone(struct server *server, int fd);

/* ... without counting. */
void converse_uncounted(struct server *server, int fd);

/* Serves one client to the end on a blocking socket, for designs that have a process or thread per
 * client or serve one client at a time. */
#pragma once
#include "server/server.h"

/* Reads, answers and writes until the client is done, idle for too long, or gone. The caller closes
 * fd. */
void serve_connection(struct server *server, int fd);

/* For a process that serves one client at a time: serves it and closes fd. Counts the connection as
 * open in the meantime. A stop of the server ends the reading (stop.h). */
void serve_client(struct server *server, int fd);

/* The same without counting. */
void serve_client_uncounted(struct server *server, int fd);

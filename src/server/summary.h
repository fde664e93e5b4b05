/* The server's summary at exit (docs/formats.md). */
#pragma once
#include "server/server.h"

/* One line for people, on stderr. */
void summary_print(const struct server *server);

/* Opens its file before the server gives up its rights. It stays empty until the end, when it is
 * written whole or not at all. Returns a descriptor or -errno. */
int summary_open(const char *path);

/* Writes JSON to that file and closes it. Returns 0 or -errno. */
int summary_write(const struct server *server, int fd);

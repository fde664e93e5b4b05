/* The server's summary at exit (docs/formats.md). */
#pragma once
#include "server/server.h"

/* One line for people, on stderr. */
void summary_print(const struct server *server);

/* The file for it, before the server gives up its rights: empty until the end, when it is written
 * whole or left empty. Returns a descriptor or -errno. */
int summary_open(const char *path);

/* As JSON to that file, which it closes. Returns 0 or -errno. */
int summary_write(const struct server *server, int fd);

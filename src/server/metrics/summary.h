/* The server's summary at exit (docs/formats.md). */
#pragma once
#include "server/server.h"

/* One readable line on stderr. */
void summary_print(const struct server *server);

/* Opens the file, before the server gives up its rights. It stays empty until summary_write, which
 * writes all or nothing. Returns a descriptor or -errno. */
int summary_open(const char *path);

/* Writes JSON to that file and closes it. Returns 0 or -errno. */
int summary_write(const struct server *server, int fd);

/* The server's summary at exit (docs/formats.md). */
#pragma once
#include "server/server.h"

/* One line for people, on stderr. */
void summary_print(const struct server *server);

/* As JSON to `path`, whole or not at all. Returns 0 or -errno. */
int summary_write(const struct server *server, const char *path);

/* The server's summary at exit (docs/formats.md). */
#pragma once
#include "base/usage.h"
#include "server/server.h"

/* What the process had used, and the time, when it was ready. */
struct summary_start {
    int64_t ready_ns;
    struct usage startup;
};

struct summary_start summary_begin(void);

/* One line for people, on stderr. */
void summary_print(const struct server *server, const struct summary_start *start);

/* As JSON to `path`, whole or not at all. Returns 0 or -errno. */
int summary_write(const struct server *server, const struct summary_start *start, const char *path);

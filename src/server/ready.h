/* Announces that the server is ready. Its own resource usage counts from then. */
#pragma once
#include "base/text.h"
#include "base/usage.h"

#include <stdint.h>

struct server;

struct ready {
    int fd;                   /* --ready-fd; -1: none, or already closed */
    int manager_fd;           /* the service manager's (service_manager.h); -1: as above */
    struct text sandbox_note; /* the active sandbox layers, printed when ready */
    int64_t since_ns;         /* CLOCK_MONOTONIC */
    struct usage startup;     /* what the process had used by then */
};

/* Announces it on stderr, on --ready-fd and to the service manager. A pool calls this once its
 * workers run; main calls it for other designs. Returns 0 or -errno. */
int ready_say(struct server *server);

/* In a process just forked: the parent will announce it. */
void ready_forget(struct server *server);

/* The moment when the server is ready: it says so, and its own usage counts from here. */
#pragma once
#include "base/text.h"
#include "base/usage.h"

#include <stdint.h>

struct server;

struct ready {
    int fd;         /* --ready-fd; -1: none, or already closed */
    int manager_fd; /* of a service manager, to be told too (service_manager.h); -1: as above */
    struct text sandbox_note; /* which sandbox layers hold, printed when ready */
    int64_t since_ns;         /* CLOCK_MONOTONIC */
    struct usage startup;     /* what the process had used until then */
};

/* Says on stderr and on --ready-fd that the server is ready. A pool calls it when its workers run;
 * main calls it for other designs. Returns 0 or -errno. */
int ready_say(struct server *server);

/* In a process just forked: the parent will say so. */
void ready_forget(struct server *server);

/* The moment from which the server serves: it is told, and what is counted is counted from here. */
#pragma once
#include "base/text.h"
#include "base/usage.h"

#include <stdint.h>

struct server;

struct ready {
    int fd;         /* whoever waits is told here; -1: nobody does, or not any longer */
    int manager_fd; /* a service manager that wants to know too (service_manager.h); -1: none */
    struct text sandbox_note; /* what the sandbox holds, to be said then */
    int64_t since_ns;         /* CLOCK_MONOTONIC */
    struct usage startup;     /* what the process had used by then */
};

/* Says on stderr and on --ready-fd that the server serves. A pool says so as soon as its workers
 * are there; main does it for the other designs. Returns 0 or -errno. */
int ready_say(struct server *server);

/* In a process just forked: it is the parent who says so. */
void ready_forget(struct server *server);

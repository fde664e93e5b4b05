/* A design: how one server serves many clients.
 *
 * All there are, and how to add one: designs/meson.build. */
#pragma once
#include <stdbool.h>

struct server;

enum {
    NO_POOL = 0,       /* the design takes no --workers */
    ONE_PER_CPU = -1,  /* by default a worker for each CPU that the server may use */
    POOL_WORKERS = 16, /* by default so many, in the other pools */
};

struct design {
    const char *name;    /* its slug: the name everywhere */
    const char *summary; /* one line */
    int workers;         /* how many by default, or one of those above */

    /* A worker serves one client to the end before it takes the next: as many idle clients as there
     * are workers block all others. */
    bool one_at_a_time;

    /* Each worker has a listener of its own on the same port (SO_REUSEPORT). */
    bool shares_port;

    /* Its processes live for one client each, so a cache between scans (top/scan_cache.h) would be
     * lost with each process and copied for the next: it is off. */
    bool keeps_nothing;

    /* It uses io_uring, which the sandbox then allows for the rings that there are. */
    bool uses_rings;

    /* Its processes hand connections to each other, which the sandbox then allows. */
    bool passes_clients;

    /* Why it cannot run here (this build, this kernel), in words; NULL: it can. The pointer is NULL
     * for a design that runs everywhere. */
    const char *(*missing)(void);

    /* Opens what the sandbox would forbid to open, as server->prepared, which is freed at the end.
     * Returns 0 or -errno. NULL: there is nothing. Not called without a sandbox. */
    int (*prepare)(struct server *server);

    /* Serves until told to stop (stop.h), then drains: stops accepting, finishes what was asked,
     * returns. Returns 0 or -errno. */
    int (*run)(struct server *server);
};

/* A design: how one server serves many clients.
 *
 * server/designs/meson.build lists all of them, and says how to add one. */
#pragma once
#include <stdbool.h>

struct server;

enum {
    NO_POOL = 0,       /* the design takes no --workers */
    ONE_PER_CPU = -1,  /* by default one worker per CPU that the server may use */
    POOL_WORKERS = 16, /* the default of other pools */
};

/* How a design uses io_uring (server/uring/). */
enum rings {
    RINGS_NONE,
    RINGS_PLAIN,
    RINGS_POLLED, /* a thread of the kernel looks for submissions */
    RINGS_TUNED,  /* waits for several completions under load */
};

struct design {
    const char *name;    /* its slug: the name everywhere */
    const char *summary; /* one line */
    int workers;         /* the default number, or one of those above */

    /* A worker serves one client to the end before it takes the next, so as many idle clients as
     * there are workers block all others. */
    bool one_at_a_time;

    /* Each worker has a listener of its own on the same port (SO_REUSEPORT). */
    bool shares_port;

    /* Its processes live for one client each, so a cache between scans
     * (service/procfs/scan_cache.h) would be lost with each process and copied for the next: it is
     * off. */
    bool scans_uncached;

    /* Unless RINGS_NONE, the sandbox allows the use of existing rings. */
    enum rings rings;

    /* Its processes pass connections to each other: the sandbox allows that. */
    bool passes_clients;

    /* Returns why the design cannot run here (this build, this kernel); NULL: it can. The pointer
     * is NULL for a design that runs everywhere. */
    const char *(*missing)(void);

    /* Opens what the sandbox forbids to open later, as server->prepared, which is freed at the end.
     * Returns 0 or -errno. NULL: nothing to prepare. Not called without a sandbox. */
    int (*prepare)(struct server *server);

    /* Serves until told to stop (server/stop.h), then drains: accepts no more, answers the
     * requests that have arrived, returns. Returns 0 or -errno. */
    int (*run)(struct server *server);
};

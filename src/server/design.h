/* A design: how one server serves many clients.
 *
 * All there are: designs/designs.h. */
#pragma once
#include <stdbool.h>

struct server;

enum {
    NO_POOL = 0,      /* the design takes no --workers */
    ONE_PER_CPU = -1, /* by default a worker for each CPU that the server may use */
};

struct design {
    const char *name;    /* its slug: the name everywhere */
    const char *summary; /* one line */
    int workers;         /* how many by default, or one of the two above */

    /* A worker serves one client to its end before it takes the next, so that as many silent
     * clients as there are workers hold up all others. */
    bool one_at_a_time;

    /* Each worker has a listener of its own on the same port (SO_REUSEPORT). */
    bool shares_port;

    /* Its processes live for one client each: what one keeps from scan to scan is thrown away with
     * it, and what the first one keeps is copied for each. So nothing is kept (top/scan_cache.h).
     */
    bool keeps_nothing;

    /* It makes io_urings, which the sandbox then allows. */
    bool uses_rings;

    /* Why it cannot be run here (this build, this kernel), in words; NULL: it can. The function is
     * NULL where a design runs everywhere. */
    const char *(*missing)(void);

    /* Serves until told to stop (stop.h), then drains: stops accepting, finishes what was asked,
     * returns. Returns 0 or -errno. */
    int (*run)(struct server *server);
};

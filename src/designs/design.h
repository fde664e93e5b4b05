/* A design: how one server serves many clients.
 *
 * To add one: write its file, declare it here, add it to the table in designs.c. It is then listed,
 * raced and tested. See docs/adding-a-design.md. */
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
     * it, and what the first one keeps is copied for each. So nothing is kept (top/kept.h). */
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

extern const struct design design_iterative;
extern const struct design design_fork_per_client;
extern const struct design design_prefork_accept;
extern const struct design design_prefork_flock;
extern const struct design design_prefork_mutex;
extern const struct design design_prefork_fdpass;
extern const struct design design_thread_per_client;
extern const struct design design_prethread_mutex;
extern const struct design design_prethread_queue;
extern const struct design design_select;
extern const struct design design_poll;
extern const struct design design_epoll;
extern const struct design design_epoll_edge;
extern const struct design design_epoll_workers;
extern const struct design design_reactors;
extern const struct design design_uring;
extern const struct design design_uring_reactors;

/* The table, in the order of every list and chart; it ends with NULL. */
extern const struct design *const designs[];

/* NULL: there is none of this name. */
const struct design *design_find(const char *name);

/* As `missing` above, of any design. */
const char *design_missing(const struct design *design);

/* How many clients it serves at a time, however silent they are: "one", "workers" (as many as it
 * has) or "all". */
const char *design_serves(const struct design *design);

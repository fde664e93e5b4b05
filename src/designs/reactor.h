/* An event loop that is told which descriptors are ready, and serves each a turn.
 *
 * How it is told is the design's: a struct poller, the same functions in the same order in each of
 * select.c, poll.c and epoll.c. */
#pragma once
#include "base/limits.h"
#include "designs/turn.h"

enum {
    FD_LIMIT = 2 * CONNECTION_LIMIT, /* no descriptor of a poller's array reaches it */
    EVENT_BATCH = 256,               /* that a poller tells of at a time */
};

struct reactor;
struct set; /* a poller's own: the descriptors that it watches */

/* What is waited for, and what there is, are events of poll(2), which are those of epoll as well.
 * What may fail returns -1 with errno. */
struct poller {
    size_t set_bytes;
    int fd_limit;        /* no descriptor may reach it; 0: no limit */
    bool forgets_closed; /* a descriptor need not be removed before it is closed */

    /* The set is all zero. */
    int (*open)(struct set *set);
    void (*close)(struct set *set);

    /* Watches the descriptor from now on; for what, changes; no longer. */
    int (*add)(struct set *set, int fd, uint32_t events);
    void (*change)(struct set *set, int fd, uint32_t events);
    void (*remove)(struct set *set, int fd);

    /* Waits until something is ready, wait_ms at most (-1: without end). Returns how many. */
    int (*wait)(struct set *set, int wait_ms);
    /* Tells reactor_ready of all of them. */
    void (*dispatch)(struct set *set, int ready, struct reactor *reactor);
};

extern const struct poller epoll_poller;

/* A descriptor that is no connection: the listener's, stop_fd, one of the design's own. */
struct door {
    int fd;
    void (*answer)(struct reactor *reactor); /* there is something to read; NULL: it ends a wait */
};

enum { DOOR_LISTENER, DOOR_STOP, DOOR_OF_DESIGN, DOORS };

struct reactor {
    struct loop loop;
    const struct poller *poller;
    bool is_edge_triggered; /* on epoll: a connection is watched once, for whatever changes */
    /* A connection's turn: turn_serve, or what a design does instead. */
    enum interest (*serve)(struct loop *loop, struct polled *connection);
    struct door doors[DOORS];
    unsigned door_count;

    struct set *set;
    struct polled **watched; /* by descriptor; NULL: a door, or nothing */
    int watched_limit;       /* all descriptors that are watched are below it */
    struct polled *again;    /* those whose turn comes again at once */
    unsigned singles;        /* so many clients are still accepted one at a time */
};

/* One that answers in the loop itself, and has no door of its own. */
struct reactor reactor_of(struct server *server, const struct poller *poller);

/* Serves until the server is told to stop, then drains. Returns 0 or -errno. */
int reactor_run(struct reactor *reactor);

/* For dispatch: the descriptor is ready. */
void reactor_ready(struct reactor *reactor, int fd, uint32_t events);

/* Its turn comes after all that are ready now, also if it was busy: the only way to serve one that
 * was not itself found ready, for dispatch may be about to tell of that one. */
void reactor_serve_later(struct reactor *reactor, struct polled *connection);

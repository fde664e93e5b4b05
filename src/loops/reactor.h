/* An event loop that waits until descriptors are ready and gives each ready connection a turn.
 *
 * How it waits is up to the design: a struct poller, with the same functions in the same order in
 * select.c, poll.c and epoll.c. */
#pragma once
#include "base/limits.h"
#include "loops/turn.h"

enum {
    FD_LIMIT = 2 * CONNECTION_LIMIT, /* size of a poller's arrays by descriptor */
    EVENT_BATCH = 256,               /* events that one wait returns */
};

struct reactor;
struct set; /* the poller's state: the descriptors that it watches */

/* Events are those of poll(2), which epoll shares. Functions that return int return -1 with errno
 * when they fail. */
struct poller {
    size_t set_bytes;
    int fd_limit;          /* descriptors must be below it; 0: no limit */
    bool removes_on_close; /* closing a descriptor removes it from the set */
    /* Event flag for a listener that other loops watch too, so that a client does not wake all of
     * them. 0: not needed. */
    uint32_t exclusive;

    /* The set is all zero at first. */
    int (*open)(struct set *set);
    void (*close)(struct set *set);

    /* Start watching a descriptor for these events; change the events; stop watching. */
    int (*add)(struct set *set, int fd, uint32_t events);
    void (*modify)(struct set *set, int fd, uint32_t events);
    void (*remove)(struct set *set, int fd);

    /* Waits at most wait_ms (-1: no limit) until descriptors are ready. Returns how many. */
    int (*wait)(struct set *set, int wait_ms);
    /* Calls reactor_dispatch_event for each of them. */
    void (*dispatch)(struct set *set, int ready, struct reactor *reactor);
};

extern const struct poller epoll_poller; /* in designs/epoll.c; several designs use it */

/* For a descriptor that is not a connection. */
struct handler {
    int fd;
    void (*ready)(struct reactor *reactor); /* called when readable; NULL: it only ends the wait */
};

enum { LISTENER, STOP, DESIGN_HANDLER, HANDLERS };

struct reactor {
    struct loop loop;
    const struct poller *poller;
    bool is_edge_triggered; /* epoll: each connection is registered once, for all events */
    /* A turn of a connection: turn_serve, or the design's own function. */
    enum next (*serve)(struct loop *loop, struct reactor_connection *connection);
    struct handler handlers[HANDLERS];
    unsigned handler_count;

    struct set *set;
    struct reactor_connection **watched; /* connections by descriptor */
    int watched_count;                   /* entries of that array */
    unsigned single_accepts_left;        /* clients still to be accepted one at a time */
};

/* A level-triggered reactor that answers requests itself and has no handler of the design. */
struct reactor reactor_of(struct server *server, const struct poller *poller);

/* Serves until the server is stopped, then drains. Returns 0 or -errno. */
int reactor_run(struct reactor *reactor);

/* For poller.dispatch: handles these events of a descriptor. */
void reactor_dispatch_event(struct reactor *reactor, int fd, uint32_t events);

/* loop_serve_later for reactors; it also ends NEXT_ANSWER. This is the only way to serve a
 * connection outside dispatch, which may still have an event for it. */
void reactor_serve_later(struct reactor *reactor, struct reactor_connection *connection);

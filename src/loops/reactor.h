/* An event loop that waits until descriptors are ready and gives each connection a turn.
 *
 * How it waits is the design's: a struct poller, the same functions in the same order in each of
 * select.c, poll.c and epoll.c. */
#pragma once
#include "base/limits.h"
#include "loops/turn.h"

enum {
    FD_LIMIT = 2 * CONNECTION_LIMIT, /* for a poller's array by descriptor */
    EVENT_BATCH = 256,               /* events that a poller returns at a time */
};

struct reactor;
struct set; /* the poller's state: the descriptors that it watches */

/* Events are those of poll(2), which epoll shares. Functions that return int return -1 with errno
 * when they fail. */
struct poller {
    size_t set_bytes;
    int fd_limit;        /* descriptors must be below it; 0: no limit */
    bool forgets_closed; /* closing a descriptor removes it */
    /* Event of a listener that other loops watch too: not all are woken for a client. 0: there are
     * no others. */
    uint32_t exclusive;

    /* The set is all zero before. */
    int (*open)(struct set *set);
    void (*close)(struct set *set);

    /* Starts watching a descriptor for these events; changes the events; stops. */
    int (*add)(struct set *set, int fd, uint32_t events);
    void (*change)(struct set *set, int fd, uint32_t events);
    void (*remove)(struct set *set, int fd);

    /* Waits until descriptors are ready, wait_ms at most (-1: without end). Returns how many. */
    int (*wait)(struct set *set, int wait_ms);
    /* Calls reactor_ready for each of them. */
    void (*dispatch)(struct set *set, int ready, struct reactor *reactor);
};

extern const struct poller epoll_poller; /* of designs/epoll.c: several designs use it */

/* For a descriptor that is no connection. */
struct handler {
    int fd;
    void (*ready)(struct reactor *reactor); /* called when it is readable; NULL: it ends the wait */
};

enum { LISTENER, STOP, OF_DESIGN, HANDLERS };

struct reactor {
    struct loop loop;
    const struct poller *poller;
    bool is_edge_triggered; /* epoll: connections are registered once, for all events */
    /* A connection's turn: turn_serve, or the design's own. */
    enum next (*serve)(struct loop *loop, struct polled *connection);
    struct handler handlers[HANDLERS];
    unsigned handler_count;

    struct set *set;
    struct polled **watched; /* connections by descriptor */
    int watched_count;       /* entries of that array */
    unsigned singles;        /* clients still to be accepted one at a time */
};

/* A level-triggered one that answers requests itself and has no handler of the design's. */
struct reactor reactor_of(struct server *server, const struct poller *poller);

/* Serves until the server is told to stop, then drains. Returns 0 or -errno. */
int reactor_run(struct reactor *reactor);

/* For dispatch: the descriptor has these events. */
void reactor_ready(struct reactor *reactor, int fd, uint32_t events);

/* loop_serve_later, which here ends NEXT_ANSWER too. The only way to serve a connection out of
 * turn: dispatch may still have an event for it. */
void reactor_serve_later(struct reactor *reactor, struct polled *connection);

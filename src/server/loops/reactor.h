/* An event loop that waits until descriptors are ready and gives each ready connection a turn. The
 * design waits, in its own loop, and is told what to wait for (watch_function):
 *
 *     error = reactor_map(reactor, sizeof(struct set))
 *     error = reactor_open(reactor, watch, error)
 *     while (error == 0 && reactor_goes_on(reactor))
 *         wait for at most reactor_wait_ms(reactor)
 *         error = reactor_waited(reactor, result)
 *         reactor_serve(reactor, fd, events) for each descriptor that is ready
 *         reactor_end_turn(reactor)
 *     reactor_close(reactor) */
#pragma once
#include "base/limits.h"
#include "server/loops/turn.h"

enum {
    FD_LIMIT = 2 * CONNECTION_LIMIT, /* size of arrays by descriptor */
    EVENT_BATCH = 256,               /* events that one wait returns */
};

struct set; /* the design's: the descriptors that it watches */

/* Watches `events` of a descriptor from now on, instead of `before`; 0: none. Events are those of
 * poll(2), which epoll shares. Returns -1 with errno if it fails to begin. */
typedef int watch_function(struct set *set, int fd, uint32_t before, uint32_t events);

struct reactor {
    struct loop loop;

    struct set *set;
    size_t set_bytes;
    watch_function *watch;
    /* What epoll_run does with its set before it begins: returns 0 or -errno. NULL: nothing. */
    int (*prepare)(struct reactor *reactor, int epoll_fd);
    uint32_t reading, writing; /* events of a connection that waits for either */
    uint32_t accepting;        /* ... of the listener */
    bool closing_unwatches;    /* closing a descriptor removes it from the set */

    /* A turn of a connection: turn_serve, or the design's own function. */
    enum next (*turn)(struct loop *loop, struct connection *connection);
    int woken_fd; /* readable when `woken` is to be called; -1: never */
    void (*woken)(struct reactor *reactor);

    size_t connection_size; /* bytes of a connection's struct, which the design may extend */

    struct connection **connections; /* by descriptor */
    int size;                        /* of that array */
    unsigned single_accepts_left;    /* clients still to be accepted one at a time */
};

/* A level-triggered reactor that answers requests itself. The design may change its fields. */
struct reactor reactor_of(struct server *server);

/* On epoll: changes of either kind are reported, each once. */
void reactor_trigger_on_edges(struct reactor *reactor);

/* Allocates the set, all zero: parts never touched take no memory. Returns 0 or -errno. */
int reactor_map(struct reactor *reactor, size_t set_bytes);

/* Watches for clients and for a stop. error: 0, or -errno if the set could not be opened. Returns
 * that or its own. */
int reactor_open(struct reactor *reactor, watch_function *watch, int error);

/* Whether there is another turn: until the server is stopped and has drained. */
bool reactor_goes_on(struct reactor *reactor);

/* For the wait: milliseconds, -1: no limit. */
static inline int reactor_wait_ms(const struct reactor *reactor) {
    return loop_wait_ms(&reactor->loop);
}

/* After it. ready: what select, poll and epoll_wait return. Returns 0 or -errno: the loop ends. */
int reactor_waited(struct reactor *reactor, int ready);

/* A descriptor is ready. */
void reactor_serve(struct reactor *reactor, int fd, uint32_t events);

/* Serves the connections that need no event, and closes those that are idle for too long. Both, or
 * each in a turn of its own. */
void reactor_end_turn(struct reactor *reactor);
void reactor_serve_queued(struct reactor *reactor);
void reactor_end_late(struct reactor *reactor);

/* Closes the connections that are left, and frees the set. */
void reactor_close(struct reactor *reactor);

/* For woken: the worker has answered, the connection gets its turn. */
void reactor_serve_later(struct reactor *reactor, struct connection *connection);

/* The loop of epoll, in server/designs/epoll.c: the whole of a reactor's run. Returns 0 or -errno.
 */
int epoll_run(struct reactor *reactor);

/* Its watch_function, for another loop on epoll. */
int epoll_watch(int epoll_fd, int fd, uint32_t before, uint32_t events);

/* The connections of one thread of the epoll engine, and its state.
 *
 *   epoll_connection.c   a connection between requests: opened, free, at rest
 *   epoll_request.c      one request: started, sent, answered or failed
 *   carrier.c            a connection whose requests go over TLS, HTTP/2 or WebSocket
 *   open_load.c          open load: which requests are due, and which connection takes them
 *   epoll_loop.c         memory, the loop, and everything that depends on time
 *   engine_epoll.c       the threads */
#pragma once
#include "base/text.h"
#include "client/load/load.h"
#include "client/reply/known_reply.h"

enum { READ_SIZE = 64 * 1024, KNOWN_REPLIES = 16 };

enum state {
    RESTING, /* nothing to do: not started, or done */
    FREE,    /* open load: can take the next due request, which connects it if necessary */
    /* In the states below, a request is under way. */
    CONNECTING, /* connect has not finished */
    SENDING,    /* the socket accepted only part of the request */
    WAITING,    /* for the reply */
    PAUSED,     /* after a failure, before the next request */
};

struct epoll_connection {
    int fd; /* −1: not connected */
    enum state state;
    uint32_t requests; /* made on this connection */
    uint32_t sent;     /* bytes of the request */
    const struct request *request;
    int64_t start_ns, first_byte_ns;
    int64_t event_ns; /* when the last of its `events` server-sent events came, or start_ns */
    uint32_t events;
    int64_t free_ns;         /* open load: when it became free */
    struct carrier *carrier; /* NULL: plain HTTP/1.1 or the line dialect */
    struct text body;        /* of the reply, to show it */
    struct reply reply;
};

/* Open load: a ring of the free connections' numbers, longest free first. */
struct free_connections {
    uint32_t *numbers;
    uint32_t first, count;
};

struct carrier;
struct idle;
struct slow;

struct epoll_engine {
    struct load *load;
    struct worker *worker;
    struct epoll_connection *connections; /* its share of the load's */
    uint32_t count, first;                /* of them; the load's number of the first one */
    int64_t
        *deadlines_ns; /* of each connection; a separate array, because the sweep reads only it */
    int64_t end_ns;    /* no request starts after it */
    int64_t now_ns;    /* when the clock was last read */
    uint32_t active;   /* connections with a request under way */
    bool is_over;      /* the window, in which requests start */
    int epoll_fd;
    struct free_connections free;
    struct schedule schedule; /* open load */
    struct idle *idle;        /* NULL: none */
    struct slow *slow;        /* NULL: none */
    struct carrier *carriers; /* of each connection; NULL: none */
    /* Each to one of the requests whose number has this remainder. */
    struct known_reply known[KNOWN_REPLIES];
    char bytes[READ_SIZE];
};

static inline uint32_t number_of_thread(const struct epoll_engine *e) {
    return (uint32_t)(e->worker - e->load->workers);
}

/* In this thread. */
static inline uint32_t number_of(const struct epoll_engine *e, const struct epoll_connection *c) {
    return (uint32_t)(c - e->connections);
}

/* For the worker and the viewer. */
static inline uint32_t number_in_load(const struct epoll_engine *e,
                                      const struct epoll_connection *c) {
    return (e->first + number_of(e, c)) / e->load->streams;
}

/* Adds it to the epoll set. Returns 0 or -errno. */
int connection_watch(struct epoll_engine *e, struct epoll_connection *c);

void connection_hang_up(struct epoll_connection *c);
void connection_enter(struct epoll_engine *e, struct epoll_connection *c, enum state state);

/* Closes the connection; its state is then RESTING. */
void connection_rest(struct epoll_engine *e, struct epoll_connection *c);

/* Open load: marks a connection as free; returns the one longest free (there must be one); takes
 * that one. */
void connection_release(struct epoll_engine *e, struct epoll_connection *c, int64_t now_ns);
struct epoll_connection *connection_longest_free(const struct epoll_engine *e);
struct epoll_connection *connection_take_free(struct epoll_engine *e);

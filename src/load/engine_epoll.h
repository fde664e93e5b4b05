/* What the files of the epoll engine share: its connections, and what may happen to them.
 *
 *   engine_epoll.c   memory, the loop, and all that depends on time
 *   epoll_request.c  the life of one request: begun, sent, answered or failed
 *   open.c           open load: which requests are due, and which connection takes them */
#pragma once
#include "base/text.h"
#include "load/idle.h"
#include "load/load.h"
#include "load/slow.h"

enum { READ_SIZE = 64 * 1024 };

enum state {
    RESTING, /* nothing to do: not started, or done */
    FREE,    /* open load: may take the next request that is due, which connects it if need be */
    /* From here on a request is under way. */
    CONNECTING, /* no answer to connect yet */
    SENDING,    /* the socket took only part of the request */
    WAITING,    /* for the reply */
    PAUSED,     /* after a failure, before it is used again */
};

struct connection {
    int fd; /* −1: not connected */
    enum state state;
    uint32_t requests; /* made on this connection */
    uint32_t sent;     /* bytes of the request */
    int64_t start_ns, first_byte_ns;
    int64_t free_ns;  /* open load: since when it has been free */
    struct text body; /* for showing */
    struct reply reply;
};

/* Open load (open.c). */
struct open_load {
    struct schedule schedule;
    uint32_t *free; /* a ring of the free connections' numbers, the one longest free first */
    uint32_t free_first, free_count;
};

struct epoll_engine {
    struct load *load;
    struct worker *worker;
    struct connection *connections;
    int64_t *deadlines_ns; /* of each connection; apart, because the sweep reads nothing else */
    int64_t end_ns;        /* no request begins after it */
    int64_t now_ns;        /* the last time that was read */
    uint32_t active;       /* connections with a request under way */
    int epoll_fd;
    struct open_load open;
    struct idle *idle; /* NULL: none */
    struct slow *slow; /* NULL: none */
    char bytes[READ_SIZE];
};

static inline uint32_t number_of(const struct epoll_engine *e, const struct connection *c) {
    return (uint32_t)(c - e->connections);
}

/* epoll_request.c */

/* Begins a request, which connects if need be. Its latency counts from start_ns, its timeout from
 * now. */
void request_begin(struct epoll_engine *e, struct connection *c, int64_t start_ns);

/* Ends a request that has not been answered. */
void request_fail(struct epoll_engine *e, struct connection *c, enum outcome outcome,
                  const char *why);

/* What epoll reported about a connection. */
void connection_handle(struct epoll_engine *e, struct connection *c, uint32_t events);

/* 0 or -errno. */
int connection_watch(struct epoll_engine *e, struct connection *c);

/* It is done with; its state is now RESTING. */
void connection_rest(struct epoll_engine *e, struct connection *c);
void connection_hang_up(struct connection *c);
void connection_enter(struct epoll_engine *e, struct connection *c, enum state state);

/* open.c */

/* Connects what stays connected, before the window. 0 or -errno. */
int open_prepare(struct epoll_engine *e);
void open_begin(struct epoll_engine *e, int64_t start_ns);

/* A connection has become free. */
void open_release(struct epoll_engine *e, struct connection *c, int64_t now_ns);

/* Starts requests that are due while connections are free, `limit` at most. */
void open_start_due(struct epoll_engine *e, uint32_t limit);

/* When there will be something to start; INT64_MAX: not before a connection is free. */
int64_t open_wake_ns(const struct epoll_engine *e);

/* Records what was due and had not started when the window was over, at over_ns. Not before all
 * that was under way has ended: replies would wait for it. */
void open_end(struct epoll_engine *e, int64_t over_ns);

#include "loops/reactor.h"

#include "base/clock.h"
#include "base/hot.h"
#include "connection/close_connection.h"
#include "connection/log.h"
#include "lifecycle/stop.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>

/* Only a failed accept shows that the backlog is empty. If clients come one at a time, that is one
 * failed call per client; so after a batch of one, this many batches accept one client only. If
 * more are waiting, the next wait returns at once. */
enum { SINGLE_ACCEPTS = 15 };

static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT && EPOLLERR == POLLERR &&
                  EPOLLHUP == POLLHUP && EPOLLRDHUP == POLLRDHUP,
              "epoll's events are poll's");

static const uint32_t EDGE_EVENTS = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;

/* ---- Watching ---- */

/* Returns 0, or -1 with errno. */
static int reserve(struct reactor *reactor, int fd) {
    if (fd < reactor->watched_count)
        return 0;
    int count = 2 * (fd + 1);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    struct reactor_connection **more = reallocarray(reactor->watched, (size_t)count, sizeof *more);
    if (more == NULL)
        return -1;
    for (int i = reactor->watched_count; i < count; i++)
        more[i] = NULL;
    reactor->watched = more;
    reactor->watched_count = count;
    return 0;
}

static int add_handler(struct reactor *reactor, int fd, uint32_t events) {
    if (reactor->poller->fd_limit != 0 && fd >= reactor->poller->fd_limit) {
        errno = EMFILE;
        return -1;
    }
    return reserve(reactor, fd) == 0 ? reactor->poller->add(reactor->set, fd, events) : -1;
}

static void add(struct reactor *reactor, struct reactor_connection *connection, uint32_t events) {
    int fd = connection->base.fd;
    if (reserve(reactor, fd) == 0 && reactor->poller->add(reactor->set, fd, events) == 0) {
        connection->is_watched = true;
        reactor->watched[fd] = connection;
    } else {
        log_connection(reactor->loop.server, fd, "cannot be watched");
        connections_remove(&reactor->loop.connections, &connection->base);
    }
}

static void close_watched(struct reactor *reactor, struct reactor_connection *connection) {
    if (connection->is_watched) {
        reactor->watched[connection->base.fd] = NULL;
        if (!reactor->poller->removes_on_close)
            reactor->poller->remove(reactor->set, connection->base.fd);
    }
    connections_remove(&reactor->loop.connections, &connection->base);
}

/* A connection is registered when it first has to wait: many clients send one request and leave,
 * and are never registered. */
HOT static void watch(struct reactor *reactor, struct reactor_connection *connection,
                      bool for_writing) {
    bool was_for_writing = connection->watches_writing;
    connection->watches_writing = for_writing;
    uint32_t events = for_writing ? POLLOUT : POLLIN;
    if (!connection->is_watched)
        add(reactor, connection, reactor->is_edge_triggered ? EDGE_EVENTS : events);
    else if (for_writing != was_for_writing && !reactor->is_edge_triggered)
        reactor->poller->modify(reactor->set, connection->base.fd, events);
}

/* ---- Turns ---- */

void reactor_serve_later(struct reactor *reactor, struct reactor_connection *connection) {
    connection->awaits_worker = false;
    loop_serve_later(&reactor->loop, &connection->base);
}

/* Closes it, unless its client may still be sending. */
static void end(struct reactor *reactor, struct reactor_connection *connection) {
    struct connection *base = &connection->base;
    if (!base->is_leaving && close_must_wait(base->fd, &base->exchange)) {
        connections_leave(&reactor->loop.connections, base, reactor->loop.now_ns);
        reactor_serve_later(reactor, connection);
    } else if (base->is_queued) { /* freed when its turn comes */
        base->must_close = true;
    } else {
        close_watched(reactor, connection);
    }
}

HOT static void apply(struct reactor *reactor, struct reactor_connection *connection,
                      enum next next) {
    switch (next) {
    case NEXT_READ:
    case NEXT_WRITE:
        watch(reactor, connection, next == NEXT_WRITE);
        break;
    case NEXT_TURN:
        reactor_serve_later(reactor, connection);
        break;
    case NEXT_ANSWER:
        connection->awaits_worker = true;
        break;
    case NEXT_CLOSE:
        end(reactor, connection);
        break;
    }
}

HOT static void serve(struct reactor *reactor, struct reactor_connection *connection) {
    if (connection->base.must_close || connection->awaits_worker)
        return;
    apply(reactor, connection,
          connection->base.is_leaving ? turn_discard(connection)
                                      : reactor->serve(&reactor->loop, connection));
}

static void call_handler(struct reactor *reactor, int fd) {
    for (unsigned i = 0; i < reactor->handler_count; i++)
        if (reactor->handlers[i].fd == fd && reactor->handlers[i].ready != NULL)
            reactor->handlers[i].ready(reactor);
}

HOT void reactor_dispatch_event(struct reactor *reactor, int fd, uint32_t events) {
    struct reactor_connection *connection = reactor->watched[fd];
    if (connection == NULL) {
        call_handler(reactor, fd);
        return;
    }
    connection->peer_closed |= (events & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
    connection->can_read |= (events & ~(uint32_t)POLLOUT) != 0;
    if (!connection->base.is_queued)
        serve(reactor, connection);
}

static void accept_clients(struct reactor *reactor) {
    if (reactor->single_accepts_left > 0) {
        reactor->single_accepts_left--;
        loop_accept(&reactor->loop, 1);
    } else if (loop_accept(&reactor->loop, ACCEPT_BATCH) <= 1) {
        reactor->single_accepts_left = SINGLE_ACCEPTS;
    }
}

/* ---- The kind of loop ---- */

static void release(struct reactor *reactor) {
    munmap(reactor->set, reactor->poller->set_bytes);
    free(reactor->watched);
}

static void close_reactor(struct loop *loop) {
    struct reactor *reactor = (struct reactor *)loop;
    reactor->poller->close(reactor->set);
    release(reactor);
}

/* A set can be large and mostly untouched: huge pages would make all of it resident. */
static int open_reactor(struct loop *loop) {
    struct reactor *reactor = (struct reactor *)loop;
    size_t bytes = reactor->poller->set_bytes;
    void *set = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (set == MAP_FAILED)
        return -errno;
    madvise(set, bytes, MADV_NOHUGEPAGE);
    reactor->set = set;
    if (reactor->poller->open(set) < 0) {
        int error = -errno;
        release(reactor);
        return error;
    }
    for (unsigned i = 0; i < reactor->handler_count; i++) {
        const uint32_t exclusive = i == LISTENER ? reactor->poller->exclusive : 0;
        if (add_handler(reactor, reactor->handlers[i].fd, POLLIN | exclusive) != 0) {
            int error = -errno;
            close_reactor(loop);
            return error;
        }
    }
    return 0;
}

/* A new client has usually sent its request already. */
static void begin(struct loop *loop, struct connection *base) {
    struct reactor_connection *connection = (struct reactor_connection *)base;
    connection->can_read = true;
    serve((struct reactor *)loop, connection);
}

static void time_out(struct loop *loop, struct connection *base) {
    struct reactor_connection *connection = (struct reactor_connection *)base;
    if (base->is_leaving)
        end((struct reactor *)loop, connection);
    else if (!connection->awaits_worker && !base->is_queued) /* else we are the slow side */
        apply((struct reactor *)loop, connection, turn_time_out(loop, connection));
}

/* Edge-triggered, the event may have come and been of no use, as when the read failed. */
static void spare(struct loop *loop, struct connection *base) {
    ((struct reactor_connection *)base)->can_read = true;
    loop_serve_later(loop, base);
}

static void serve_queued(struct loop *loop, struct connection *base) {
    struct reactor *reactor = (struct reactor *)loop;
    struct reactor_connection *connection = (struct reactor_connection *)base;
    if (base->must_close)
        close_watched(reactor, connection);
    else
        serve(reactor, connection);
}

static int turn(struct loop *loop, int wait_ms) {
    struct reactor *reactor = (struct reactor *)loop;
    int limit_ms = loop->queued != NULL ? 0 : loop_wait_ms(loop, wait_ms);
    int ready = reactor->poller->wait(reactor->set, limit_ms);
    int error = loop_waited(loop, ready < 0 ? -errno : 0);
    if (error != 0)
        return error;
    reactor->poller->dispatch(reactor->set, ready, reactor);
    loop_serve_queued(loop);
    return 0;
}

static void stop_accepting(struct loop *loop) {
    struct reactor *reactor = (struct reactor *)loop;
    reactor->poller->remove(reactor->set, reactor->handlers[LISTENER].fd);
    reactor->poller->remove(reactor->set, reactor->handlers[STOP].fd);
}

static void end_reading(struct loop *loop) {
    connections_shut_reading(&loop->connections);
}

static const struct loop_kind kind = {
    .connection_size = sizeof(struct reactor_connection),
    .open = open_reactor,
    .close = close_reactor,
    .begin = begin,
    .time_out = time_out,
    .spare = spare,
    .serve = serve_queued,
    .turn = turn,
    .stop_accepting = stop_accepting,
    .end_reading = end_reading,
};

struct reactor reactor_of(struct server *server, const struct poller *poller) {
    return (struct reactor){
        .loop = {.kind = &kind, .server = server, .fd_limit = poller->fd_limit},
        .poller = poller,
        .serve = turn_serve,
        .handlers =
            {[LISTENER] = {server->listener.drain_fd, accept_clients}, [STOP] = {stop_fd(), NULL}},
        .handler_count = DESIGN_HANDLER,
    };
}

int reactor_run(struct reactor *reactor) {
    return loop_run(&reactor->loop);
}

#include "designs/reactor.h"

#include "base/clock.h"
#include "base/hot.h"
#include "server/log.h"
#include "server/stop.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>

/* That nobody else waits says only a call that fails, and where clients come one at a time it would
 * fail for each. After such a one so many are accepted without it: if more wait, the next wait says
 * so at once. */
enum { SINGLES = 15 };

static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT && EPOLLERR == POLLERR &&
                  EPOLLHUP == POLLHUP && EPOLLRDHUP == POLLRDHUP,
              "epoll's events are poll's");

/* What is told once of each, edge-triggered. */
static const uint32_t CHANGES = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;

/* ---- What is watched ---- */

/* Room for the descriptor in `watched`. Returns 0, or -1 with errno. */
static int make_room(struct reactor *reactor, int fd) {
    if (fd < reactor->watched_limit)
        return 0;
    int limit = 2 * (fd + 1);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): it is pointers that the array holds */
    struct polled **watched = reallocarray(reactor->watched, (size_t)limit, sizeof *watched);
    if (watched == NULL)
        return -1;
    for (int i = reactor->watched_limit; i < limit; i++)
        watched[i] = NULL;
    reactor->watched = watched;
    reactor->watched_limit = limit;
    return 0;
}

static int add_door(struct reactor *reactor, int fd) {
    if (reactor->poller->fd_limit != 0 && fd >= reactor->poller->fd_limit) {
        errno = EMFILE;
        return -1;
    }
    return make_room(reactor, fd) == 0 ? reactor->poller->add(reactor->set, fd, POLLIN) : -1;
}

static void add(struct reactor *reactor, struct polled *connection, uint32_t events) {
    int fd = connection->base.fd;
    if (make_room(reactor, fd) == 0 && reactor->poller->add(reactor->set, fd, events) == 0) {
        connection->is_watched = true;
        reactor->watched[fd] = connection;
    } else {
        log_connection(reactor->loop.server, fd, "cannot be watched");
        connections_remove(&reactor->loop.connections, &connection->base);
    }
}

static void drop(struct reactor *reactor, struct polled *connection) {
    if (connection->is_watched) {
        reactor->watched[connection->base.fd] = NULL;
        if (!reactor->poller->forgets_closed)
            reactor->poller->remove(reactor->set, connection->base.fd);
    }
    connections_remove(&reactor->loop.connections, &connection->base);
}

/* The poller is told only what it does not know yet; and of a connection only when there is
 * something of it to wait for: a client that asks once and leaves, as many do, is gone by then. */
HOT static void watch(struct reactor *reactor, struct polled *connection, bool for_writing) {
    bool was_for_writing = connection->is_for_writing;
    connection->is_for_writing = for_writing;
    uint32_t events = for_writing ? POLLOUT : POLLIN;
    if (!connection->is_watched)
        add(reactor, connection, reactor->is_edge_triggered ? CHANGES : events);
    else if (for_writing != was_for_writing && !reactor->is_edge_triggered)
        reactor->poller->change(reactor->set, connection->base.fd, events);
}

/* ---- Turns ---- */

void reactor_serve_later(struct reactor *reactor, struct polled *connection) {
    connection->is_busy = false;
    if (connection->is_queued)
        return;
    connection->is_queued = true;
    connection->next_again = reactor->again;
    reactor->again = connection;
}

/* What a turn left to do. */
HOT static void apply(struct reactor *reactor, struct polled *connection, enum interest interest) {
    switch (interest) {
    case INTEREST_READ:
    case INTEREST_WRITE:
        watch(reactor, connection, interest == INTEREST_WRITE);
        break;
    case INTEREST_AGAIN:
        reactor_serve_later(reactor, connection);
        break;
    case INTEREST_LATER:
        connection->is_busy = true;
        break;
    case INTEREST_NONE:
        if (connection->is_queued) /* in a list of which nobody else knows: it goes then */
            connection->base.is_over = true;
        else
            drop(reactor, connection);
        break;
    }
}

HOT static void serve(struct reactor *reactor, struct polled *connection) {
    if (!connection->base.is_over && !connection->is_busy)
        apply(reactor, connection, reactor->serve(&reactor->loop, connection));
}

static void answer_door(struct reactor *reactor, int fd) {
    for (unsigned i = 0; i < reactor->door_count; i++)
        if (reactor->doors[i].fd == fd && reactor->doors[i].answer != NULL)
            reactor->doors[i].answer(reactor);
}

HOT void reactor_ready(struct reactor *reactor, int fd, uint32_t events) {
    struct polled *connection = reactor->watched[fd];
    if (connection == NULL) {
        answer_door(reactor, fd);
        return;
    }
    connection->is_shut |= (events & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
    connection->can_read |= (events & ~(uint32_t)POLLOUT) != 0;
    serve(reactor, connection);
}

static void accept_clients(struct reactor *reactor) {
    if (reactor->singles > 0) {
        reactor->singles--;
        loop_accept(&reactor->loop, 1);
    } else if (loop_accept(&reactor->loop, ACCEPT_BATCH) <= 1) {
        reactor->singles = SINGLES;
    }
}

/* Whoever gets into the list meanwhile is served after the next wait. */
static void serve_again(struct reactor *reactor) {
    struct polled *next, *connection = reactor->again;
    reactor->again = NULL;
    for (; connection != NULL; connection = next) {
        next = connection->next_again;
        connection->is_queued = false;
        if (connection->base.is_over)
            drop(reactor, connection);
        else
            serve(reactor, connection);
    }
}

/* ---- As a loop ---- */

static void release(struct reactor *reactor) {
    munmap(reactor->set, reactor->poller->set_bytes);
    free(reactor->watched);
}

static int fail(struct reactor *reactor) {
    int error = -errno;
    release(reactor);
    return error;
}

static void close_reactor(struct loop *loop) {
    struct reactor *reactor = (struct reactor *)loop;
    reactor->poller->close(reactor->set);
    release(reactor);
}

/* A set may be large, and is mostly not touched: it has no huge pages. */
static int open_reactor(struct loop *loop) {
    struct reactor *reactor = (struct reactor *)loop;
    size_t bytes = reactor->poller->set_bytes;
    void *set = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (set == MAP_FAILED)
        return -errno;
    madvise(set, bytes, MADV_NOHUGEPAGE);
    reactor->set = set;
    if (reactor->poller->open(set) < 0)
        return fail(reactor);
    for (unsigned i = 0; i < reactor->door_count; i++)
        if (add_door(reactor, reactor->doors[i].fd) != 0) {
            int error = -errno;
            close_reactor(loop);
            return error;
        }
    return 0;
}

/* Whoever connects has mostly asked already. */
static void begin(struct loop *loop, struct connection *base) {
    struct polled *connection = (struct polled *)base;
    connection->can_read = true;
    serve((struct reactor *)loop, connection);
}

static void time_out(struct loop *loop, struct connection *base) {
    struct polled *connection = (struct polled *)base;
    if (!connection->is_busy) /* else it is we who let it wait */
        apply((struct reactor *)loop, connection, turn_time_out(loop, connection));
}

static int turn(struct loop *loop, int wait_ms) {
    struct reactor *reactor = (struct reactor *)loop;
    int limit_ms = reactor->again != NULL ? 0 : wait_ms >= 0 ? wait_ms : loop_idle_ms(loop);
    int ready = reactor->poller->wait(reactor->set, limit_ms);
    if (ready < 0 && errno != EINTR)
        return -errno;
    loop->now_ns = clock_monotonic_ns();
    reactor->poller->dispatch(reactor->set, ready, reactor);
    serve_again(reactor);
    return 0;
}

static void stop_accepting(struct loop *loop) {
    struct reactor *reactor = (struct reactor *)loop;
    reactor->poller->remove(reactor->set, reactor->doors[DOOR_LISTENER].fd);
    reactor->poller->remove(reactor->set, reactor->doors[DOOR_STOP].fd);
}

static const struct loop_kind kind = {
    .connection_size = sizeof(struct polled),
    .open = open_reactor,
    .close = close_reactor,
    .begin = begin,
    .time_out = time_out,
    .turn = turn,
    .stop_accepting = stop_accepting,
};

struct reactor reactor_of(struct server *server, const struct poller *poller) {
    return (struct reactor){
        .loop = {.kind = &kind, .server = server, .fd_limit = poller->fd_limit},
        .poller = poller,
        .serve = turn_serve,
        .doors = {[DOOR_LISTENER] = {server->listener.drain_fd, accept_clients},
                  [DOOR_STOP] = {stop_fd(), NULL}},
        .door_count = DOOR_OF_DESIGN,
    };
}

int reactor_run(struct reactor *reactor) {
    return loop_run(&reactor->loop);
}

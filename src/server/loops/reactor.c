#include "server/loops/reactor.h"

#include "base/clock.h"
#include "base/hot.h"
#include "server/connection/accept.h"
#include "server/connection/close_connection.h"
#include "server/connection/log.h"
#include "server/stop.h"

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

/* ---- Watching ---- */

/* Begins to watch. Returns 0, or -1 with errno. connection: NULL for other descriptors. */
static int add(struct reactor *reactor, int fd, uint32_t events, struct connection *connection) {
    if (reactor->loop.fd_limit != 0 && fd >= reactor->loop.fd_limit) {
        errno = EMFILE;
        return -1;
    }
    if (fd >= reactor->size) {
        int size = 2 * (fd + 1);
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
        struct connection **more = reallocarray(reactor->connections, (size_t)size, sizeof *more);
        if (more == NULL)
            return -1;
        for (int i = reactor->size; i < size; i++)
            more[i] = NULL;
        reactor->connections = more;
        reactor->size = size;
    }
    if (reactor->watch(reactor->set, fd, 0, events) != 0)
        return -1;
    reactor->connections[fd] = connection;
    return 0;
}

static void close_watched(struct reactor *reactor, struct connection *connection) {
    if (connection->watched != 0) {
        reactor->connections[connection->fd] = NULL;
        if (!reactor->closing_unwatches)
            reactor->watch(reactor->set, connection->fd, connection->watched, 0);
    }
    connections_remove(&reactor->loop.connections, connection);
}

/* A connection is registered when it first has to wait: many clients send one request and leave,
 * and are never registered. */
HOT static void await(struct reactor *reactor, struct connection *connection, uint32_t events) {
    const uint32_t before = connection->watched;
    connection->watched = events;
    if (before != 0 && before != events) {
        reactor->watch(reactor->set, connection->fd, before, events);
    } else if (before == 0 && add(reactor, connection->fd, events, connection) != 0) {
        log_connection(reactor->loop.server, connection->fd, "cannot be watched");
        connections_remove(&reactor->loop.connections, connection);
    }
}

/* ---- Turns ---- */

void reactor_serve_later(struct reactor *reactor, struct connection *connection) {
    connection->awaits_worker = false;
    loop_serve_later(&reactor->loop, connection);
}

/* Closes it, unless its client may still be sending. */
static void end(struct reactor *reactor, struct connection *connection) {
    if (!connection->is_leaving && close_must_wait(connection->fd, &connection->exchange)) {
        connections_leave(&reactor->loop.connections, connection, reactor->loop.now_ns);
        reactor_serve_later(reactor, connection);
    } else if (connection->is_queued) { /* freed when its turn comes */
        connection->must_close = true;
    } else {
        close_watched(reactor, connection);
    }
}

HOT static void apply(struct reactor *reactor, struct connection *connection, enum next next) {
    switch (next) {
    case NEXT_READ:
        await(reactor, connection, reactor->reading);
        break;
    case NEXT_WRITE:
        await(reactor, connection, reactor->writing);
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

HOT static void serve(struct reactor *reactor, struct connection *connection) {
    if (connection->must_close || connection->awaits_worker)
        return;
    apply(reactor, connection,
          connection->is_leaving ? turn_discard(connection)
                                 : reactor->turn(&reactor->loop, connection));
}

/* A new client has usually sent its request already: it is served, now or later. Returns how many
 * were accepted. */
static int accept_clients(struct reactor *reactor, int limit,
                          void (*then)(struct reactor *reactor, struct connection *connection)) {
    int fd, count = 0;
    for (; count < limit && (fd = listener_accept(reactor->loop.server)) >= 0; count++) {
        struct connection *connection = loop_add_client(&reactor->loop, fd);
        if (connection == NULL)
            continue;
        connection->can_read = true;
        then(reactor, connection);
    }
    return count;
}

static void listener_ready(struct reactor *reactor) {
    if (reactor->single_accepts_left > 0) {
        reactor->single_accepts_left--;
        accept_clients(reactor, 1, serve);
    } else if (accept_clients(reactor, ACCEPT_BATCH, serve) <= 1) {
        reactor->single_accepts_left = SINGLE_ACCEPTS;
    }
}

HOT void reactor_serve(struct reactor *reactor, int fd, uint32_t events) {
    struct connection *connection = reactor->connections[fd];
    if (connection != NULL) {
        connection->peer_closed |= (events & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
        connection->can_read |= (events & ~(uint32_t)POLLOUT) != 0;
        if (!connection->is_queued)
            serve(reactor, connection);
    } else if (fd == reactor->loop.server->listener.drain_fd) {
        listener_ready(reactor);
    } else if (fd == reactor->woken_fd) {
        reactor->woken(reactor);
    } /* else a stop */
}

static void serve_queued(struct loop *loop, struct connection *connection) {
    struct reactor *reactor = (struct reactor *)loop;
    if (connection->must_close)
        close_watched(reactor, connection);
    else
        serve(reactor, connection);
}

static void time_out(struct reactor *reactor, struct connection *connection) {
    if (connection->is_leaving) {
        end(reactor, connection);
    } else if (connection->was_spared) {
        /* Edge-triggered, the event may have come and been of no use, as when the read failed. */
        connection->can_read = true;
        loop_serve_later(&reactor->loop, connection);
    } else if (!connection->awaits_worker && !connection->is_queued) { /* else we are slow */
        apply(reactor, connection, turn_time_out(&reactor->loop, connection));
    }
}

HOT void reactor_serve_queued(struct reactor *reactor) {
    loop_serve_queued(&reactor->loop, serve_queued);
}

HOT void reactor_end_late(struct reactor *reactor) {
    for (struct connection *late; (late = loop_next_late(&reactor->loop)) != NULL;)
        time_out(reactor, late);
}

HOT void reactor_end_turn(struct reactor *reactor) {
    reactor_serve_queued(reactor);
    reactor_end_late(reactor);
}

/* ---- The loop ---- */

struct reactor reactor_of(struct server *server) {
    return (struct reactor){.loop.server = server,
                            .reading = POLLIN,
                            .writing = POLLOUT,
                            .accepting = POLLIN,
                            .turn = turn_serve,
                            .connection_size = sizeof(struct connection),
                            .woken_fd = -1};
}

void reactor_trigger_on_edges(struct reactor *reactor) {
    reactor->reading = reactor->writing = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
}

/* Huge pages would make all of a large set resident. */
int reactor_map(struct reactor *reactor, size_t set_bytes) {
    void *set = mmap(NULL, set_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (set == MAP_FAILED)
        return -errno;
    madvise(set, set_bytes, MADV_NOHUGEPAGE);
    reactor->set = set;
    reactor->set_bytes = set_bytes;
    return 0;
}

int reactor_open(struct reactor *reactor, watch_function *watch, int error) {
    const int listener_fd = reactor->loop.server->listener.drain_fd;
    reactor->watch = watch;
    if (error == 0 &&
        (add(reactor, listener_fd, reactor->accepting, NULL) != 0 ||
         add(reactor, stop_fd(), POLLIN, NULL) != 0 ||
         (reactor->woken_fd >= 0 && add(reactor, reactor->woken_fd, POLLIN, NULL) != 0)))
        error = -errno;
    return loop_open(&reactor->loop, reactor->connection_size, error);
}

static bool drains(struct reactor *reactor) {
    struct loop *loop = &reactor->loop;
    if (loop_must_stop_accepting(loop)) {
        reactor->watch(reactor->set, loop->server->listener.drain_fd, reactor->accepting, 0);
        reactor->watch(reactor->set, stop_fd(), POLLIN, 0);
        accept_clients(reactor, CONNECTION_LIMIT, reactor_serve_later);
    }
    if (loop_must_end_reading(loop))
        connections_shut_reading(&loop->connections);
    return !loop_is_over(loop);
}

HOT bool reactor_goes_on(struct reactor *reactor) {
    return !stop_is_requested() || drains(reactor);
}

HOT int reactor_waited(struct reactor *reactor, int ready) {
    return loop_waited(&reactor->loop, ready < 0 ? -errno : 0);
}

void reactor_close(struct reactor *reactor) {
    loop_close(&reactor->loop);
    free(reactor->connections);
    if (reactor->set != NULL)
        munmap(reactor->set, reactor->set_bytes);
}

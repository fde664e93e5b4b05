/* epoll and epoll-edge: one event loop on epoll.
 *
 * The kernel keeps the list of connections: a turn costs in proportion to those that are ready, not
 * to all. A connection is registered once, when it turns out to stay: in the usual case a request
 * costs one recv, one send and its share of an epoll_wait.
 *
 * Level-triggered, the kernel tells how things are, again and again: it is told anew what to watch
 * for when a client takes its replies slowly, and when it is done. Edge-triggered, it tells what
 * changes: no such calls, but an event for each change that nobody waited for; and what it told
 * once must be remembered (can_read) until a read comes back short. */
#include "designs/epoll.h"

#include "server/design.h"
#include "server/stop.h"

#include <errno.h>
#include <unistd.h>

/* `what`: the connection; the loop itself for the listener; NULL for stop_fd, which only ends a
 * wait. */
static int control(struct loop *loop, int operation, int fd, uint32_t events, void *what) {
    struct epoll_event event = {.events = events, .data.ptr = what};
    return epoll_ctl(((struct epoll_loop *)loop)->fd, operation, fd, &event) == 0 ? 0 : -errno;
}

/* The listener is level-triggered in both: more may wait to be accepted than one turn takes. */
static int open_epoll(struct loop *loop) {
    struct epoll_loop *self = (struct epoll_loop *)loop;
    self->fd = epoll_create1(EPOLL_CLOEXEC);
    if (self->fd < 0)
        return -errno;
    int error = control(loop, EPOLL_CTL_ADD, loop->server->listener.drain_fd, EPOLLIN, loop);
    if (error == 0)
        error = control(loop, EPOLL_CTL_ADD, stop_fd(), EPOLLIN, NULL);
    if (error != 0)
        close(self->fd);
    return error;
}

static void close_epoll(struct loop *loop) {
    close(((struct epoll_loop *)loop)->fd);
}

static uint32_t level_events(const struct connection *connection) {
    return connection->interest == INTEREST_WRITE ? EPOLLOUT : EPOLLIN;
}

static int add_level(struct loop *loop, struct connection *connection) {
    return control(loop, EPOLL_CTL_ADD, connection->fd, level_events(connection), connection);
}

static int add_edge(struct loop *loop, struct connection *connection) {
    const uint32_t all = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    return control(loop, EPOLL_CTL_ADD, connection->fd, all, connection);
}

static void change_level(struct loop *loop, struct connection *connection) {
    control(loop, EPOLL_CTL_MOD, connection->fd, level_events(connection), connection);
}

static void change_edge(struct loop *loop, struct connection *connection) {
    (void)loop, (void)connection; /* whatever it is, it is told */
}

static void remove_connection(struct loop *loop, struct connection *connection) {
    (void)loop, (void)connection; /* closing it does that */
}

static void ignore_listener(struct loop *loop) {
    control(loop, EPOLL_CTL_DEL, loop->server->listener.drain_fd, 0, NULL);
    control(loop, EPOLL_CTL_DEL, stop_fd(), 0, NULL);
}

static int wait_ready(struct loop *loop, int wait_ms) {
    struct epoll_loop *self = (struct epoll_loop *)loop;
    self->ready = epoll_wait(self->fd, self->events, EVENT_BATCH, wait_ms);
    if (self->ready >= 0)
        return 0;
    self->ready = 0;
    return errno == EINTR ? 0 : -errno;
}

static void dispatch(struct loop *loop) {
    struct epoll_loop *self = (struct epoll_loop *)loop;
    for (int i = 0; i < self->ready; i++) {
        uint32_t events = self->events[i].events;
        struct connection *connection = self->events[i].data.ptr;
        if (self->events[i].data.ptr == loop) {
            loop_accept(loop);
        } else if (connection != NULL) {
            connection->is_shut |= (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
            connection->can_read |= connection->is_shut || (events & EPOLLIN) != 0;
            loop_serve(loop, connection);
        }
    }
}

const struct poller epoll_level = {open_epoll,        close_epoll,     add_level,  change_level,
                                   remove_connection, ignore_listener, wait_ready, dispatch};
const struct poller epoll_edge = {open_epoll,        close_epoll,     add_edge,   change_edge,
                                  remove_connection, ignore_listener, wait_ready, dispatch};

int epoll_run(struct server *server) {
    struct epoll_loop self = {
        .loop = {.poller = &epoll_level, .serve = loop_converse, .server = server}};
    return loop_run(&self.loop);
}

static int run_edge(struct server *server) {
    struct epoll_loop self = {
        .loop = {.poller = &epoll_edge, .serve = loop_converse, .server = server}};
    return loop_run(&self.loop);
}

const struct design design_epoll = {
    .name = "epoll",
    .summary = "one event loop on epoll, level-triggered",
    .run = epoll_run,
};

const struct design design_epoll_edge = {
    .name = "epoll-edge",
    .summary = "one event loop on epoll, edge-triggered",
    .run = run_edge,
};

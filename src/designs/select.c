/* select: one event loop on select.
 *
 * Before each wait the two sets are copied to the kernel, which walks them up to the highest
 * descriptor, and so do we: every turn costs in proportion to all connections, however few are
 * ready. A set has FD_SETSIZE bits; a connection beyond is refused, for setting its bit would write
 * outside the set. */
#include "designs/loop.h"
#include "server/design.h"
#include "server/stop.h"

#include <errno.h>
#include <sys/select.h>

struct select_loop {
    struct loop loop;
    struct connection *by_fd[FD_SETSIZE];
    fd_set reading, writing; /* what each connection waits for */
    int highest;             /* of all descriptors in the sets */
    fd_set readable, writable;
    int ready; /* bits set in the two */
};

static void watch(struct select_loop *self, int fd, enum interest interest) {
    FD_CLR(fd, &self->reading);
    FD_CLR(fd, &self->writing);
    if (interest != INTEREST_NONE)
        FD_SET(fd, interest == INTEREST_WRITE ? &self->writing : &self->reading);
    if (fd > self->highest)
        self->highest = fd;
}

static void forget(struct select_loop *self, int fd) {
    watch(self, fd, INTEREST_NONE);
    while (self->highest >= 0 && !FD_ISSET(self->highest, &self->reading) &&
           !FD_ISSET(self->highest, &self->writing))
        self->highest--;
}

static int open_sets(struct loop *loop) {
    struct select_loop *self = (struct select_loop *)loop;
    int listener = loop->server->listener.drain_fd;
    /* Whoever started us may have left many descriptors open. */
    if (listener >= FD_SETSIZE || stop_fd() >= FD_SETSIZE)
        return -EMFILE;
    FD_ZERO(&self->reading);
    FD_ZERO(&self->writing);
    watch(self, listener, INTEREST_READ);
    watch(self, stop_fd(), INTEREST_READ);
    return 0;
}

static void close_sets(struct loop *loop) {
    (void)loop; /* they are no object of the kernel */
}

static void change(struct loop *loop, struct connection *connection) {
    watch((struct select_loop *)loop, connection->fd, connection->interest);
}

static int add(struct loop *loop, struct connection *connection) {
    ((struct select_loop *)loop)->by_fd[connection->fd] = connection;
    change(loop, connection);
    return 0;
}

static void remove_connection(struct loop *loop, struct connection *connection) {
    struct select_loop *self = (struct select_loop *)loop;
    self->by_fd[connection->fd] = NULL;
    forget(self, connection->fd);
}

static void ignore_listener(struct loop *loop) {
    forget((struct select_loop *)loop, loop->server->listener.drain_fd);
    forget((struct select_loop *)loop, stop_fd());
}

static int wait_ready(struct loop *loop, int wait_ms) {
    struct select_loop *self = (struct select_loop *)loop;
    struct timeval timeout = {.tv_sec = wait_ms / 1000, .tv_usec = wait_ms % 1000 * 1000};
    self->readable = self->reading;
    self->writable = self->writing;
    self->ready = select(self->highest + 1, &self->readable, &self->writable, NULL,
                         wait_ms >= 0 ? &timeout : NULL);
    if (self->ready >= 0)
        return 0;
    self->ready = 0;
    return errno == EINTR ? 0 : -errno;
}

/* The listener is served last: whom it brings was not in the sets, which may hold its number. */
static void dispatch(struct loop *loop) {
    struct select_loop *self = (struct select_loop *)loop;
    int listener = loop->server->listener.drain_fd;
    for (int fd = 0, left = self->ready; fd <= self->highest && left > 0; fd++) {
        bool can_read = FD_ISSET(fd, &self->readable), can_write = FD_ISSET(fd, &self->writable);
        left -= can_read + can_write;
        struct connection *connection = self->by_fd[fd];
        if (connection == NULL || (!can_read && !can_write))
            continue;
        connection->can_read |= can_read;
        loop_serve(loop, connection);
    }
    if (self->ready > 0 && FD_ISSET(listener, &self->readable))
        loop_accept(loop);
}

static const struct poller poller = {open_sets,         close_sets,      add,        change,
                                     remove_connection, ignore_listener, wait_ready, dispatch};

static int run(struct server *server) {
    struct select_loop self = {.loop = {.poller = &poller,
                                        .serve = loop_converse,
                                        .server = server,
                                        .fd_limit = FD_SETSIZE},
                               .highest = -1};
    return loop_run(&self.loop);
}

const struct design design_select = {
    .name = "select",
    .summary = "one event loop on select",
    .run = run,
};

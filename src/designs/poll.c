/* poll: one event loop on poll.
 *
 * As select, without its limit: the array of descriptors is as long as there are connections, holds
 * no gaps, and is copied to the kernel and walked by it and by us at every turn, however few are
 * ready. 16 bytes a connection in two arrays. */
#include "designs/loop.h"
#include "server/design.h"
#include "server/stop.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

enum { LISTENER, STOP, FIRST_CONNECTION, FIRST_CAPACITY = 64 };

struct poll_loop {
    struct loop loop;
    struct pollfd *fds;              /* the listener, stop_fd, then the connections */
    struct connection **connections; /* of each, in the same places */
    uint32_t count, capacity;
    int ready;
};

static int grow(struct poll_loop *self, uint32_t capacity) {
    struct pollfd *fds = realloc(self->fds, capacity * sizeof *fds);
    if (fds == NULL)
        return -ENOMEM;
    self->fds = fds;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): it is pointers that the array holds */
    struct connection **connections = realloc(self->connections, capacity * sizeof *connections);
    if (connections == NULL)
        return -ENOMEM;
    self->connections = connections;
    self->capacity = capacity;
    return 0;
}

static void close_array(struct loop *loop) {
    struct poll_loop *self = (struct poll_loop *)loop;
    free(self->fds);
    free(self->connections);
}

static int open_array(struct loop *loop) {
    struct poll_loop *self = (struct poll_loop *)loop;
    if (grow(self, FIRST_CAPACITY) != 0) {
        close_array(loop);
        return -ENOMEM;
    }
    self->fds[LISTENER] = (struct pollfd){.fd = loop->server->listener.drain_fd, .events = POLLIN};
    self->fds[STOP] = (struct pollfd){.fd = stop_fd(), .events = POLLIN};
    self->count = FIRST_CONNECTION;
    return 0;
}

static void change(struct loop *loop, struct connection *connection) {
    struct pollfd *watched = &((struct poll_loop *)loop)->fds[connection->slot];
    watched->events = connection->interest == INTEREST_WRITE ? POLLOUT : POLLIN;
}

static int add(struct loop *loop, struct connection *connection) {
    struct poll_loop *self = (struct poll_loop *)loop;
    if (self->count == self->capacity && grow(self, 2 * self->capacity) != 0)
        return -ENOMEM;
    connection->slot = self->count++;
    self->connections[connection->slot] = connection;
    self->fds[connection->slot] = (struct pollfd){.fd = connection->fd};
    change(loop, connection);
    return 0;
}

/* The last one takes its place. */
static void remove_connection(struct loop *loop, struct connection *connection) {
    struct poll_loop *self = (struct poll_loop *)loop;
    uint32_t last = --self->count, slot = connection->slot;
    self->fds[slot] = self->fds[last];
    self->connections[slot] = self->connections[last];
    self->connections[slot]->slot = slot;
}

/* poll passes over negative descriptors. */
static void ignore_listener(struct loop *loop) {
    struct poll_loop *self = (struct poll_loop *)loop;
    self->fds[LISTENER].fd = self->fds[STOP].fd = -1;
}

static int wait_ready(struct loop *loop, int wait_ms) {
    struct poll_loop *self = (struct poll_loop *)loop;
    self->ready = poll(self->fds, self->count, wait_ms);
    if (self->ready >= 0)
        return 0;
    self->ready = 0;
    return errno == EINTR ? 0 : -errno;
}

/* From the end: whoever takes the place of one that is over was looked at already. */
static void dispatch(struct loop *loop) {
    struct poll_loop *self = (struct poll_loop *)loop;
    int left = self->ready;
    for (uint32_t slot = self->count; slot-- > FIRST_CONNECTION && left > 0;) {
        short events = self->fds[slot].revents;
        if (events == 0)
            continue;
        left--;
        struct connection *connection = self->connections[slot];
        connection->can_read |= (events & ~POLLOUT) != 0;
        loop_serve(loop, connection);
    }
    if (left > 0 && self->fds[LISTENER].revents != 0)
        loop_accept(loop);
}

static const struct poller poller = {open_array,        close_array,     add,        change,
                                     remove_connection, ignore_listener, wait_ready, dispatch};

static int run(struct server *server) {
    struct poll_loop self = {.loop = {.poller = &poller, .serve = loop_converse, .server = server}};
    return loop_run(&self.loop);
}

const struct design design_poll = {
    .name = "poll",
    .summary = "one event loop on poll",
    .run = run,
};

/* epoll: one event loop on epoll, level-triggered.
 *
 * The kernel keeps the set: a turn costs in proportion to the ready connections only. A connection
 * is registered once, when it first has to wait, and modified only for a client that reads slowly:
 * a request costs one recv, one send and its share of an epoll_wait. */
#include "loops/reactor.h"
#include "server/design.h"

#include <sys/epoll.h>
#include <unistd.h>

struct set {
    int fd;
    struct epoll_event ready[EVENT_BATCH];
};

static int open_set(struct set *set) {
    set->fd = epoll_create1(EPOLL_CLOEXEC);
    return set->fd;
}

static void close_set(struct set *set) {
    close(set->fd);
}

static void modify(struct set *set, int fd, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    epoll_ctl(set->fd, EPOLL_CTL_MOD, fd, &event);
}

static int add(struct set *set, int fd, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    return epoll_ctl(set->fd, EPOLL_CTL_ADD, fd, &event);
}

static void remove_fd(struct set *set, int fd) {
    epoll_ctl(set->fd, EPOLL_CTL_DEL, fd, NULL);
}

static int wait_ready(struct set *set, int wait_ms) {
    return epoll_wait(set->fd, set->ready, EVENT_BATCH, wait_ms);
}

static void dispatch(struct set *set, int ready, struct reactor *reactor) {
    for (int i = 0; i < ready; i++) {
        const struct epoll_event *event = &set->ready[i];
        reactor_dispatch_event(reactor, event->data.fd, event->events);
    }
}

const struct poller epoll_poller = {
    .set_bytes = sizeof(struct set),
    .removes_on_close = true,
    .exclusive = EPOLLEXCLUSIVE,
    .open = open_set,
    .close = close_set,
    .add = add,
    .modify = modify,
    .remove = remove_fd,
    .wait = wait_ready,
    .dispatch = dispatch,
};

static int run(struct server *server) {
    struct reactor reactor = reactor_of(server, &epoll_poller);
    return reactor_run(&reactor);
}

const struct design design_epoll = {
    .name = "epoll",
    .summary = "one event loop on epoll, level-triggered",
    .run = run,
};

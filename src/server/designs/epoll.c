/* epoll: one event loop on epoll, level-triggered.
 *
 * The kernel keeps the set: a turn costs in proportion to the ready connections only. A request
 * costs one recv, one send and its share of an epoll_wait. */
#include "server/design.h"
#include "server/loops/reactor.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

struct set {
    int fd;
    struct epoll_event ready[EVENT_BATCH];
};

int epoll_watch(int epoll_fd, int fd, uint32_t before, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    const int change = before == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
    return epoll_ctl(epoll_fd, change, fd, &event);
}

static int watch(struct set *set, int fd, uint32_t before, uint32_t events) {
    return epoll_watch(set->fd, fd, before, events);
}

static int wait_ready(struct set *set, int wait_ms) {
    return epoll_wait(set->fd, set->ready, EVENT_BATCH, wait_ms);
}

static void serve_ready(struct set *set, int ready, struct reactor *reactor) {
    for (int i = 0; i < ready; i++)
        reactor_serve(reactor, set->ready[i].data.fd, set->ready[i].events);
}

int epoll_run(struct reactor *reactor) {
    int error = reactor_map(reactor, sizeof(struct set));
    reactor->accepting |= EPOLLEXCLUSIVE; /* other loops may watch the listener too */
    reactor->closing_unwatches = true;
    if (error == 0 && (reactor->set->fd = epoll_create1(EPOLL_CLOEXEC)) < 0)
        error = -errno;
    if (error == 0 && reactor->prepare != NULL)
        error = reactor->prepare(reactor, reactor->set->fd);
    error = reactor_open(reactor, watch, error);
    while (error == 0 && reactor_goes_on(reactor)) {
        int ready = wait_ready(reactor->set, reactor_wait_ms(reactor));
        error = reactor_waited(reactor, ready);
        serve_ready(reactor->set, ready, reactor);
        reactor_end_turn(reactor);
    }
    if (reactor->set != NULL)
        close(reactor->set->fd);
    reactor_close(reactor);
    return error;
}

static int run(struct server *server) {
    struct reactor reactor = reactor_of(server);
    return epoll_run(&reactor);
}

const struct design design_epoll = {
    .name = "epoll",
    .summary = "one event loop on epoll, level-triggered",
    .run = run,
};

/* poll: one event loop on poll.
 *
 * Each wait copies an array to the kernel, and kernel and server scan it: a turn costs in
 * proportion to all connections, however few are ready. The array has no gaps, and can be large:
 * entries never touched take no memory. */
#include "server/design.h"
#include "server/loops/reactor.h"

#include <poll.h>

struct set {
    int count; /* entries in use */
    struct pollfd fds[FD_LIMIT];
    int index[FD_LIMIT]; /* in fds, by descriptor */
};

static int watch(struct set *set, int fd, uint32_t before, uint32_t events) {
    if (before == 0)
        set->index[fd] = set->count++;
    if (events == 0) { /* the last entry fills the gap */
        struct pollfd last = set->fds[--set->count];
        set->index[last.fd] = set->index[fd];
        set->fds[set->index[fd]] = last;
    } else {
        set->fds[set->index[fd]] = (struct pollfd){.fd = fd, .events = (short)events};
    }
    return 0;
}

static int wait_ready(struct set *set, int wait_ms) {
    return poll(set->fds, (nfds_t)set->count, wait_ms);
}

/* From the end, so that an entry that fills a gap has been handled already. */
static void serve_ready(struct set *set, int ready, struct reactor *reactor) {
    for (int i = set->count - 1; i >= 0 && ready > 0; i--) {
        struct pollfd event = set->fds[i];
        if (event.revents == 0)
            continue;
        ready--;
        reactor_serve(reactor, event.fd, (uint32_t)event.revents);
    }
}

static int poll_run(struct reactor *reactor) {
    int error = reactor_map(reactor, sizeof(struct set));
    reactor->loop.fd_limit = FD_LIMIT;
    error = reactor_open(reactor, watch, error);
    while (error == 0 && reactor_goes_on(reactor)) {
        int ready = wait_ready(reactor->set, reactor_wait_ms(reactor));
        error = reactor_waited(reactor, ready);
        serve_ready(reactor->set, ready, reactor);
        reactor_end_turn(reactor);
    }
    reactor_close(reactor);
    return error;
}

static int run(struct server *server) {
    struct reactor reactor = reactor_of(server);
    return poll_run(&reactor);
}

const struct design design_poll = {
    .name = "poll",
    .summary = "one event loop on poll",
    .run = run,
};

/* poll: one event loop on poll.
 *
 * Each wait copies an array to the kernel, and kernel and server scan it: a turn costs in
 * proportion to all connections, however few are ready. The array has no gaps, and can be large:
 * entries never touched take no memory. */
#include "loops/reactor.h"
#include "server/design.h"

#include <poll.h>

struct set {
    int count; /* entries in use */
    struct pollfd fds[FD_LIMIT];
    int index[FD_LIMIT]; /* in fds, by descriptor */
};

static int open_set(struct set *set) {
    (void)set; /* no kernel object */
    return 0;
}

static void close_set(struct set *set) {
    (void)set;
}

static void modify(struct set *set, int fd, uint32_t events) {
    set->fds[set->index[fd]].events = (short)events;
}

static int add(struct set *set, int fd, uint32_t events) {
    set->index[fd] = set->count;
    set->fds[set->count++] = (struct pollfd){.fd = fd, .events = (short)events};
    return 0;
}

/* The last entry fills the gap. */
static void remove_fd(struct set *set, int fd) {
    struct pollfd last = set->fds[--set->count];
    set->index[last.fd] = set->index[fd];
    set->fds[set->index[fd]] = last;
}

static int wait_ready(struct set *set, int wait_ms) {
    return poll(set->fds, (nfds_t)set->count, wait_ms);
}

/* From the end, so that an entry that fills a gap has been handled already. */
static void dispatch(struct set *set, int ready, struct reactor *reactor) {
    for (int i = set->count - 1; i >= 0 && ready > 0; i--) {
        struct pollfd event = set->fds[i];
        if (event.revents == 0)
            continue;
        ready--;
        reactor_dispatch_event(reactor, event.fd, (uint32_t)event.revents);
    }
}

static const struct poller poller = {
    .set_bytes = sizeof(struct set),
    .fd_limit = FD_LIMIT,
    .open = open_set,
    .close = close_set,
    .add = add,
    .modify = modify,
    .remove = remove_fd,
    .wait = wait_ready,
    .dispatch = dispatch,
};

static int run(struct server *server) {
    struct reactor reactor = reactor_of(server, &poller);
    return reactor_run(&reactor);
}

const struct design design_poll = {
    .name = "poll",
    .summary = "one event loop on poll",
    .run = run,
};

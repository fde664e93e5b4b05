/* poll: one event loop on poll.
 *
 * For each wait an array without gaps is copied to the kernel, and walked by it and by us: a turn
 * costs in proportion to all connections, however few are ready. Its limit can be far away: what is
 * never touched takes no memory. */
#include "loops/reactor.h"
#include "server/design.h"

#include <poll.h>

struct set {
    int count; /* of places taken */
    struct pollfd fds[FD_LIMIT];
    int places[FD_LIMIT]; /* of each descriptor in that array */
};

static int open_set(struct set *set) {
    (void)set; /* no kernel object */
    return 0;
}

static void close_set(struct set *set) {
    (void)set;
}

static void change(struct set *set, int fd, uint32_t events) {
    set->fds[set->places[fd]].events = (short)events;
}

static int add(struct set *set, int fd, uint32_t events) {
    set->places[fd] = set->count;
    set->fds[set->count++] = (struct pollfd){.fd = fd, .events = (short)events};
    return 0;
}

/* The last entry takes its place. */
static void forget(struct set *set, int fd) {
    struct pollfd last = set->fds[--set->count];
    set->places[last.fd] = set->places[fd];
    set->fds[set->places[fd]] = last;
}

static int wait_ready(struct set *set, int wait_ms) {
    return poll(set->fds, (nfds_t)set->count, wait_ms);
}

/* From the end: an entry that moves to a free place has been looked at. */
static void dispatch(struct set *set, int ready, struct reactor *reactor) {
    for (int i = set->count - 1; i >= 0 && ready > 0; i--) {
        struct pollfd found = set->fds[i];
        if (found.revents == 0)
            continue;
        ready--;
        reactor_ready(reactor, found.fd, (uint32_t)found.revents);
    }
}

static const struct poller poller = {
    .set_bytes = sizeof(struct set),
    .fd_limit = FD_LIMIT,
    .open = open_set,
    .close = close_set,
    .add = add,
    .change = change,
    .remove = forget,
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

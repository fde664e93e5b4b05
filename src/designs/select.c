/* select: one event loop on select.
 *
 * Each wait copies two sets to the kernel, and kernel and server scan them up to the highest
 * descriptor: a turn costs in proportion to all connections, however few are ready. A set has
 * FD_SETSIZE bits: further connections are refused. */
#include "loops/reactor.h"
#include "server/design.h"

#include <poll.h>
#include <sys/select.h>

struct set {
    fd_set reading, writing;   /* wanted */
    fd_set readable, writable; /* ready */
    int count;                 /* highest descriptor + 1 */
};

static int open_set(struct set *set) {
    (void)set; /* no kernel object */
    return 0;
}

static void close_set(struct set *set) {
    (void)set;
}

static void modify(struct set *set, int fd, uint32_t events) {
    FD_CLR(fd, &set->reading);
    FD_CLR(fd, &set->writing);
    FD_SET(fd, events == POLLOUT ? &set->writing : &set->reading);
}

static int add(struct set *set, int fd, uint32_t events) {
    set->count = fd < set->count ? set->count : fd + 1;
    modify(set, fd, events);
    return 0;
}

static void remove_fd(struct set *set, int fd) {
    FD_CLR(fd, &set->reading);
    FD_CLR(fd, &set->writing);
    while (set->count > 0 && !FD_ISSET(set->count - 1, &set->reading) &&
           !FD_ISSET(set->count - 1, &set->writing))
        set->count--;
}

static int wait_ready(struct set *set, int wait_ms) {
    struct timeval timeout = {.tv_sec = wait_ms / 1000, .tv_usec = wait_ms % 1000 * 1000};
    set->readable = set->reading;
    set->writable = set->writing;
    return select(set->count, &set->readable, &set->writable, NULL, wait_ms >= 0 ? &timeout : NULL);
}

static void dispatch(struct set *set, int ready, struct reactor *reactor) {
    for (int i = set->count - 1; i >= 0 && ready > 0; i--) {
        bool can_read = FD_ISSET(i, &set->readable), can_write = FD_ISSET(i, &set->writable);
        if (!can_read && !can_write)
            continue;
        ready--;
        reactor_dispatch_event(reactor, i, can_read ? POLLIN : POLLOUT);
    }
}

static const struct poller poller = {
    .set_bytes = sizeof(struct set),
    .fd_limit = FD_SETSIZE,
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

const struct design design_select = {
    .name = "select",
    .summary = "one event loop on select",
    .run = run,
};

/* select: one event loop on select.
 *
 * Each wait copies two sets to the kernel, and both sides scan them up to the highest descriptor,
 * however few are ready. A set has FD_SETSIZE bits: further connections are refused. */
#include "server/design.h"
#include "server/loops/reactor.h"

#include <poll.h>
#include <sys/select.h>

struct set {
    fd_set reading, writing;   /* wanted */
    fd_set readable, writable; /* ready */
    int count;                 /* highest descriptor + 1 */
};

static int watch(struct set *set, int fd, uint32_t before, uint32_t events) {
    (void)before;
    FD_CLR(fd, &set->reading);
    FD_CLR(fd, &set->writing);
    if (events != 0)
        FD_SET(fd, events == POLLOUT ? &set->writing : &set->reading);
    set->count = fd < set->count ? set->count : fd + 1;
    while (set->count > 0 && !FD_ISSET(set->count - 1, &set->reading) &&
           !FD_ISSET(set->count - 1, &set->writing))
        set->count--;
    return 0;
}

static int wait_ready(struct set *set, int wait_ms) {
    struct timeval limit = {.tv_sec = wait_ms / 1000, .tv_usec = wait_ms % 1000 * 1000};
    set->readable = set->reading;
    set->writable = set->writing;
    return select(set->count, &set->readable, &set->writable, NULL, wait_ms >= 0 ? &limit : NULL);
}

static void serve_ready(struct set *set, int ready, struct reactor *reactor) {
    for (int i = set->count - 1; i >= 0 && ready > 0; i--) {
        bool can_read = FD_ISSET(i, &set->readable), can_write = FD_ISSET(i, &set->writable);
        if (!can_read && !can_write)
            continue;
        ready--;
        reactor_serve(reactor, i, can_read ? POLLIN : POLLOUT);
    }
}

static int select_run(struct reactor *reactor) {
    int error = reactor_map(reactor, sizeof(struct set));
    reactor->loop.fd_limit = FD_SETSIZE;
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
    return select_run(&reactor);
}

const struct design design_select = {
    .name = "select",
    .summary = "one event loop on select",
    .run = run,
};

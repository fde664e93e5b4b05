/* epoll-busy: the loop of `epoll`, whose waits poll the network card.
 *
 * Before it sleeps, epoll_wait polls the receive queue of the card that the connections come from
 * (Linux 6.9), for BUSY_US at most: a packet is found without an interrupt and without waking the
 * server, at the cost of CPU time while there is none. Loopback and a plain veth have no such
 * queue: on them it is `epoll`. */
#include "base/busy_polling.h"
#include "server/design.h"
#include "server/loops/reactor.h"

#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    BUSY_US = 50,    /* what the kernel's documentation recommends for net.core.busy_read */
    BUSY_BUDGET = 8, /* packets a poll, the kernel's default; above 64 needs CAP_NET_ADMIN */
};

/* Returns 0 or -errno. */
static int poll_busily(int epoll_fd) {
    struct busy_polling wanted = {.usecs = BUSY_US, .budget = BUSY_BUDGET};
    return ioctl(epoll_fd, BUSY_POLLING_SET, &wanted) == 0 ? 0 : -errno;
}

static int prepare(struct reactor *reactor, int epoll_fd) {
    (void)reactor;
    return poll_busily(epoll_fd);
}

static const char *missing(void) {
    const int fd = epoll_create1(EPOLL_CLOEXEC);
    const int error = fd >= 0 ? poll_busily(fd) : 0; /* else running it says why */
    if (fd >= 0)
        close(fd);
    return error == 0 ? NULL : "the kernel's epoll has no busy polling (Linux 6.9)";
}

static int run(struct server *server) {
    struct reactor reactor = reactor_of(server);
    reactor.prepare = prepare;
    return epoll_run(&reactor);
}

const struct design design_epoll_busy = {
    .name = "epoll-busy",
    .summary = "one event loop on epoll, whose waits poll the network card",
    .missing = missing,
    .run = run,
};

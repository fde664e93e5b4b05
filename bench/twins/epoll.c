/* The loop of all twins on epoll but epoll-edge and epoll-workers: level-triggered.
 *
 * A new client's request is read at once; the client is added to epoll only if it stays. */
#include "base/busy_polling.h"
#include "react.h"
#include "turns.h"

#include <errno.h>
#include <sys/epoll.h>

enum { EVENT_BATCH = 512 };

bool react_is_busy;

static int poll_busily(int epoll) {
    const struct busy_polling wanted = {.usecs = 50, .budget = 8};
    return ioctl(epoll, BUSY_POLLING_SET, &wanted) == 0 ? 0 : -errno;
}

static int watch(int epoll, int fd, uint32_t events) {
    struct epoll_event readable = {.events = events, .data.fd = fd};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &readable) == 0 ? 0 : -errno;
}

/* Accepts one client per event: the listener stays ready if more are waiting. */
static int welcome(int epoll, int listener, struct turns *turns) {
    int fd = twin_accept(listener);
    if (fd < 0)
        return fd == -EAGAIN ? 0 : fd;
    return turns_begin(turns, fd) == OVER ? 0 : watch(epoll, fd, EPOLLIN);
}

int react(const struct twin *twin, int listener) {
    struct turns *turns = turns_open(twin);
    struct epoll_event events[EVENT_BATCH];
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    int error = turns == NULL || epoll < 0 ? -ENOMEM : twin_set_nonblocking(listener);
    if (error == 0)
        error = watch(epoll, listener, EPOLLIN | EPOLLEXCLUSIVE);
    if (error == 0 && react_is_busy)
        error = poll_busily(epoll);
    while (error == 0) {
        int ready = epoll_wait(epoll, events, EVENT_BATCH, -1);
        if (ready < 0 && errno != EINTR)
            error = -errno;
        for (int i = 0; i < ready && error == 0; i++) {
            int fd = events[i].data.fd;
            if (fd == listener)
                error = welcome(epoll, listener, turns);
            else
                turns_go_on(turns, fd);
        }
    }
    turns_close(turns);
    return error;
}

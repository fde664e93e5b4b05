/* The twin of epoll-edge: one loop, edge-triggered. After an edge it reads until a short read; the
 * client's end may be reported together with its last bytes. */
#include "twin.h"

#include <errno.h>
#include <sys/epoll.h>

enum { EVENT_BATCH = 512 };

static struct asked asked[FD_SIZE];

static int watch(int epoll, int fd, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

static enum state serve_all(const struct twin *twin, int fd, bool is_shut) {
    enum state state;
    do
        state = twin_turn(twin, &asked[fd], fd);
    while (state == MORE || (state == STAYS && is_shut));
    return state;
}

static int welcome(const struct twin *twin, int epoll, int listener) {
    int fd = twin_accept(listener);
    if (fd < 0)
        return fd == -EAGAIN ? 0 : fd;
    if (serve_all(twin, fd, false) == OVER)
        return 0;
    return watch(epoll, fd, EPOLLIN | EPOLLRDHUP | EPOLLET);
}

int serve(const struct twin *twin) {
    struct epoll_event events[EVENT_BATCH];
    int listener = twin_listen(twin, false), epoll = epoll_create1(EPOLL_CLOEXEC);
    int error = listener < 0 ? listener : epoll < 0 ? -errno : twin_set_nonblocking(listener);
    if (error == 0)
        error = watch(epoll, listener, EPOLLIN);
    while (error == 0) {
        int ready = epoll_wait(epoll, events, EVENT_BATCH, -1);
        if (ready < 0 && errno != EINTR)
            error = -errno;
        for (int i = 0; i < ready && error == 0; i++)
            if (events[i].data.fd == listener)
                error = welcome(twin, epoll, listener);
            else
                serve_all(twin, events[i].data.fd,
                          (events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0);
    }
    return error;
}

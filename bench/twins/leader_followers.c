/* The twin of leader-followers: threads that take turns at waiting on one epoll set. A descriptor
 * is watched again only after its request was answered (EPOLLONESHOT). */
#include "pool.h"

#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>

struct team {
    const struct twin *twin;
    int listener, epoll;
    pthread_mutex_t leading;
};

static struct asked asked[FD_SIZE];

static int watch(int epoll, int change, int fd, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    return epoll_ctl(epoll, change, fd, &event) == 0 ? 0 : -errno;
}

/* Waits for one event, as the only one. Returns its descriptor, a new client's first, or -errno.
 * Clients are accepted before the next thread leads: it is not told of the same ones. */
static int lead(struct team *team, bool *is_new) {
    struct epoll_event event;
    pthread_mutex_lock(&team->leading);
    int fd = epoll_wait(team->epoll, &event, 1, -1) == 1 ? event.data.fd : -errno;
    *is_new = fd == team->listener;
    if (*is_new)
        fd = twin_accept(team->listener);
    pthread_mutex_unlock(&team->leading);
    return fd;
}

static void work(void *argument, unsigned worker) {
    struct team *team = argument;
    int fd = 0, error = 0;
    bool is_new;
    (void)worker;
    while (error == 0 || error == -EINTR || error == -EAGAIN) {
        error = fd = lead(team, &is_new);
        if (fd < 0)
            continue;
        error = 0;
        if (twin_turn(team->twin, &asked[fd], fd) != OVER)
            error = watch(team->epoll, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd,
                          EPOLLIN | EPOLLONESHOT);
    }
}

int serve(const struct twin *twin) {
    struct team team = {twin, twin_listen(twin, false), epoll_create1(EPOLL_CLOEXEC),
                        PTHREAD_MUTEX_INITIALIZER};
    int error = team.listener < 0 ? team.listener
                : team.epoll < 0  ? -errno
                                  : twin_set_nonblocking(team.listener);
    if (error == 0)
        error = watch(team.epoll, EPOLL_CTL_ADD, team.listener, EPOLLIN);
    return error == 0 ? pool_of_threads(WORKERS, work, &team) : error;
}

/* The twin of select: one loop, which copies the set for each call. */
#include "twin.h"

#include <errno.h>
#include <sys/select.h>
#include <unistd.h>

struct loop {
    const struct twin *twin;
    int listener, highest;
    fd_set watched, ready;
    struct asked asked[FD_SETSIZE];
};

static void forget(struct loop *loop, int fd) {
    FD_CLR(fd, &loop->watched);
    while (!FD_ISSET(loop->highest, &loop->watched))
        loop->highest--;
}

/* A descriptor of FD_SETSIZE or more would be written outside the set. */
static int welcome(struct loop *loop) {
    int fd = twin_accept(loop->listener);
    if (fd < 0)
        return fd == -EAGAIN ? 0 : fd;
    if (fd >= FD_SETSIZE) {
        close(fd);
    } else if (twin_turn(loop->twin, &loop->asked[fd], fd) != OVER) {
        FD_SET(fd, &loop->watched);
        if (fd > loop->highest)
            loop->highest = fd;
    }
    return 0;
}

static int turn(struct loop *loop) {
    loop->ready = loop->watched;
    int left = select(loop->highest + 1, &loop->ready, NULL, NULL, NULL);
    if (left < 0)
        return errno == EINTR ? 0 : -errno;
    for (int fd = loop->listener + 1; left > 0 && fd <= loop->highest; fd++)
        if (FD_ISSET(fd, &loop->ready)) {
            left--;
            if (twin_turn(loop->twin, &loop->asked[fd], fd) == OVER)
                forget(loop, fd);
        }
    return FD_ISSET(loop->listener, &loop->ready) ? welcome(loop) : 0;
}

int serve(const struct twin *twin) {
    static struct loop loop;
    int error = loop.listener = loop.highest = twin_listen(twin, false);
    loop.twin = twin;
    if (error >= 0)
        error = twin_set_nonblocking(loop.listener);
    if (error == 0)
        FD_SET(loop.listener, &loop.watched);
    while (error == 0)
        error = turn(&loop);
    return error;
}

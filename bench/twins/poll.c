/* The twin of poll: one loop, an array without gaps. */
#include "twin.h"

#include <errno.h>
#include <poll.h>

enum { LISTENER, FIRST };

struct loop {
    const struct twin *twin;
    unsigned count;
    struct pollfd fds[FD_SIZE];
    struct asked asked[FD_SIZE];
};

static void watch(struct loop *loop, int fd) {
    loop->fds[loop->count++] = (struct pollfd){.fd = fd, .events = POLLIN};
}

/* Moves the last entry into the gap. */
static void forget(struct loop *loop, unsigned slot) {
    loop->fds[slot] = loop->fds[--loop->count];
}

static int welcome(struct loop *loop) {
    int fd = twin_accept(loop->fds[LISTENER].fd);
    if (fd < 0)
        return fd == -EAGAIN ? 0 : fd;
    if (twin_turn(loop->twin, &loop->asked[fd], fd) != OVER)
        watch(loop, fd);
    return 0;
}

/* From the end, so that an entry that fills a gap has already been handled. */
static int turn(struct loop *loop) {
    int left = poll(loop->fds, loop->count, -1);
    if (left < 0)
        return errno == EINTR ? 0 : -errno;
    for (unsigned slot = loop->count; slot-- > FIRST && left > 0;)
        if (loop->fds[slot].revents != 0) {
            int fd = loop->fds[slot].fd;
            left--;
            if (twin_turn(loop->twin, &loop->asked[fd], fd) == OVER)
                forget(loop, slot);
        }
    return left > 0 ? welcome(loop) : 0;
}

int serve(const struct twin *twin) {
    static struct loop loop;
    int listener = twin_listen(twin, false);
    int error = listener < 0 ? listener : twin_set_nonblocking(listener);
    loop.twin = twin;
    watch(&loop, listener);
    while (error == 0)
        error = turn(&loop);
    return error;
}

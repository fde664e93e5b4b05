/* The twin of prefork-fdpass: the parent accepts and passes descriptors to child processes, which
 * send a byte when they are free again. */
#include "server/workers/fd_channel.h"
#include "twin.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LISTENER, FIRST, WAITS = FIRST + WORKERS };

struct parent {
    struct pollfd waits[WAITS]; /* the listener, then the socket to each child */
    bool is_free[WAITS];
};

/* Returns the descriptor; -1 if there will be no more. */
static int receive(int socket) {
    union {
        struct cmsghdr header; /* for its alignment */
        char space[CMSG_SPACE(sizeof(int))];
    } ancillary;
    char byte;
    int fd = -1;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = ancillary.space,
                             .msg_controllen = sizeof ancillary.space};
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message) != NULL)
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

static void work(const struct twin *twin, int socket) {
    int fd;
    while ((fd = receive(socket)) >= 0) {
        twin_converse(twin, fd);
        if (send(socket, "", 1, MSG_NOSIGNAL) != 1)
            break;
    }
    _exit(EXIT_FAILURE);
}

/* A child inherits the parent's ends of earlier pairs, which is harmless, as all end together. */
static int start(const struct twin *twin, struct parent *parent, unsigned child) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return -errno;
    pid_t pid = fork();
    if (pid == 0)
        work(twin, ends[1]);
    close(ends[1]);
    parent->waits[child] = (struct pollfd){.fd = ends[0], .events = POLLIN};
    parent->is_free[child] = true;
    return pid < 0 ? -errno : 0;
}

static int find_free(const struct parent *parent) {
    for (int child = FIRST; child < WAITS; child++)
        if (parent->is_free[child])
            return child;
    return -1;
}

static int mark_free(struct parent *parent, int child) {
    char byte;
    parent->is_free[child] = true;
    return recv(parent->waits[child].fd, &byte, 1, 0) == 1 ? 0 : -ECHILD;
}

static int welcome(struct parent *parent, int listener) {
    int child = find_free(parent), fd = twin_accept(listener);
    if (fd < 0)
        return fd == -EAGAIN ? 0 : fd;
    int error = channel_pass(parent->waits[child].fd, fd);
    parent->is_free[child] = false;
    close(fd);
    return error;
}

/* Accepts only while a child is free. */
static int turn(struct parent *parent, int listener) {
    parent->waits[LISTENER].fd = find_free(parent) >= 0 ? listener : -1;
    int error = 0;
    if (poll(parent->waits, WAITS, -1) < 0)
        return errno == EINTR ? 0 : -errno;
    for (int child = FIRST; error == 0 && child < WAITS; child++)
        if (parent->waits[child].revents != 0)
            error = mark_free(parent, child);
    if (error == 0 && parent->waits[LISTENER].revents != 0)
        error = welcome(parent, listener);
    return error;
}

int serve(const struct twin *twin) {
    struct parent parent = {.waits[LISTENER].events = POLLIN};
    int listener = twin_listen(twin, false);
    int error = listener < 0 ? listener : twin_set_nonblocking(listener);
    twin_end_together();
    for (unsigned child = FIRST; error == 0 && child < WAITS; child++)
        error = start(twin, &parent, child);
    while (error == 0)
        error = turn(&parent, listener);
    return error;
}

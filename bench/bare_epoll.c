/* The floor of every server on epoll: one level-triggered loop that writes a constant.
 *
 * It reads, looks at nothing of what it read, and sends the same bytes for each read; it keeps
 * nothing of a connection but its descriptor, and no time. What a real server costs more is what
 * parsing, answering, limits and timeouts cost. Ended by a signal.
 * usage: bare-epoll HOST:PORT REPLY-FILE */
#include "bare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_SIZE = 4096, EVENT_BATCH = 512 };

static int watch(int epoll, int fd) {
    struct epoll_event readable = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &readable) == 0 ? 0 : -errno;
}

static void accept_all(const struct bare *bare, int epoll) {
    int fd;
    while ((fd = accept4(bare->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
        if (watch(epoll, fd) != 0)
            close(fd);
}

/* A reply is far smaller than a socket's buffer: it is sent whole, or the client is gone. */
static void serve(const struct bare *bare, int fd) {
    char bytes[READ_SIZE];
    if (recv(fd, bytes, sizeof bytes, 0) <= 0 ||
        send(fd, bare->reply, bare->length, MSG_NOSIGNAL) != (ssize_t)bare->length)
        close(fd);
}

static int run(const struct bare *bare) {
    struct epoll_event events[EVENT_BATCH];
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0)
        return -errno;
    int error = watch(epoll, bare->listener);
    while (error == 0) {
        int ready = epoll_wait(epoll, events, EVENT_BATCH, -1);
        if (ready < 0 && errno != EINTR)
            error = -errno;
        for (int i = 0; i < ready; i++)
            if (events[i].data.fd == bare->listener)
                accept_all(bare, epoll);
            else
                serve(bare, events[i].data.fd);
    }
    close(epoll);
    return error;
}

int main(int argc, char **argv) {
    static struct bare bare;
    int error = bare_open(&bare, argc, argv);
    if (error == 0)
        error = run(&bare);
    fprintf(stderr, "bare-epoll: %s; usage: bare-epoll HOST:PORT REPLY-FILE\n", strerror(-error));
    return EXIT_FAILURE;
}

/* The floor of every server on epoll: one level-triggered loop that writes a constant.
 *
 * It reads, looks at nothing of what it read, and sends the same bytes for each read; it keeps
 * nothing of a connection but its descriptor, and no time. What a real server spends more is what
 * parsing, answering, limits and timeouts cost. Ended by a signal.
 * usage: bare-epoll HOST:PORT REPLY-FILE */
#include "base/address.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REPLY_SIZE = 64 * 1024, READ_SIZE = 4096, EVENT_BATCH = 512, BACKLOG = 4096 };

struct bare {
    int listener, epoll;
    char reply[REPLY_SIZE];
    size_t length;
};

static int load_reply(struct bare *bare, const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t got = read(fd, bare->reply, sizeof bare->reply);
    int error = got < 0 ? -errno : 0;
    close(fd);
    bare->length = got > 0 ? (size_t)got : 0;
    return error;
}

static int watch(const struct bare *bare, int fd) {
    struct epoll_event readable = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(bare->epoll, EPOLL_CTL_ADD, fd, &readable) == 0 ? 0 : -errno;
}

static int open_listener(struct bare *bare, const char *where) {
    struct address address;
    const char *problem;
    const int yes = 1;
    int error = address_parse(where, NULL, &address, &problem);
    if (error != 0)
        return error;
    bare->listener =
        socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bare->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (bare->listener < 0 || bare->epoll < 0)
        return -errno;
    if (setsockopt(bare->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(bare->listener, (const struct sockaddr *)&address.storage, address.length) != 0 ||
        listen(bare->listener, BACKLOG) != 0)
        return -errno;
    return watch(bare, bare->listener);
}

static void accept_all(const struct bare *bare) {
    int fd;
    while ((fd = accept4(bare->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
        if (watch(bare, fd) != 0)
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
    for (;;) {
        int ready = epoll_wait(bare->epoll, events, EVENT_BATCH, -1);
        if (ready < 0 && errno != EINTR)
            return -errno;
        for (int i = 0; i < ready; i++)
            if (events[i].data.fd == bare->listener)
                accept_all(bare);
            else
                serve(bare, events[i].data.fd);
    }
}

int main(int argc, char **argv) {
    static struct bare bare;
    int error = argc == 3 ? load_reply(&bare, argv[2]) : -EINVAL;
    if (error == 0)
        error = open_listener(&bare, argv[1]);
    if (error == 0)
        error = run(&bare);
    fprintf(stderr, "bare-epoll: %s; usage: bare-epoll HOST:PORT REPLY-FILE\n", strerror(-error));
    return EXIT_FAILURE;
}

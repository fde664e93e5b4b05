/* The twin of epoll-workers: one loop on edge-triggered epoll reads and writes; each request goes
 * through a pool of threads, which do no work, and back. */
#include "queue.h"
#include "server/threads.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENT_BATCH = 512 };

struct connection {
    struct asked asked;
    bool is_busy;    /* a worker has its request */
    bool can_read;   /* input was reported, and will not be reported again */
    bool is_shut;    /* the client's end was reported */
    bool is_watched; /* only after the first reply, as many clients then end */
};

static struct connection connections[FD_SIZE];
static struct queue asking = QUEUE_INITIALIZER, answered = QUEUE_INITIALIZER;
static int answered_fd;

static void work(void *argument, unsigned worker) {
    const uint64_t one = 1;
    (void)argument, (void)worker;
    for (;;)
        if (queue_add(&answered, queue_take(&asking)))
            (void)!write(answered_fd, &one, sizeof one);
}

static int watch(int epoll, int fd, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

static void ask(struct connection *connection, int fd) {
    connection->is_busy = true;
    queue_add(&asking, fd);
    pthread_cond_signal(&asking.has_some);
}

/* Reads until a request is complete or there is no more input. */
static int listen_to(int epoll, int fd) {
    struct connection *connection = &connections[fd];
    char bytes[READ_SIZE];
    while (connection->can_read && !connection->is_busy) {
        ssize_t got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN))
            return close(fd);
        connection->can_read = got == sizeof bytes || connection->is_shut;
        if (got > 0 && asked_is_whole(&connection->asked, bytes, (size_t)got))
            ask(connection, fd);
    }
    if (connection->is_watched || connection->is_busy)
        return 0;
    connection->is_watched = true;
    return watch(epoll, fd, EPOLLIN | EPOLLRDHUP | EPOLLET);
}

static int welcome(int epoll, int listener) {
    int fd = twin_accept(listener);
    if (fd < 0)
        return fd == -EAGAIN ? 0 : fd;
    connections[fd] = (struct connection){.can_read = true};
    return listen_to(epoll, fd);
}

static int tell_answered(const struct twin *twin, int epoll) {
    uint64_t ignored;
    int error = 0;
    (void)!read(answered_fd, &ignored, sizeof ignored);
    for (int next, fd = queue_take_all(&answered); fd >= 0 && error == 0; fd = next) {
        next = answered.next[fd];
        connections[fd].is_busy = false;
        if (twin_reply(twin, &connections[fd].asked, fd))
            error = listen_to(epoll, fd);
    }
    return error;
}

static int take(const struct twin *twin, int epoll, int listener, const struct epoll_event *event) {
    int fd = event->data.fd;
    if (fd == listener)
        return welcome(epoll, listener);
    if (fd == answered_fd)
        return tell_answered(twin, epoll);
    connections[fd].can_read = true;
    connections[fd].is_shut |= (event->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    return listen_to(epoll, fd);
}

static int turn(const struct twin *twin, int epoll, int listener) {
    struct epoll_event events[EVENT_BATCH];
    int error = 0, ready = epoll_wait(epoll, events, EVENT_BATCH, -1);
    if (ready < 0)
        return errno == EINTR ? 0 : -errno;
    for (int i = 0; i < ready && error == 0; i++)
        error = take(twin, epoll, listener, &events[i]);
    return error;
}

int serve(const struct twin *twin) {
    struct threads threads;
    int listener = twin_listen(twin, false), epoll = epoll_create1(EPOLL_CLOEXEC);
    answered_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int error = listener < 0                   ? listener
                : epoll < 0 || answered_fd < 0 ? -errno
                                               : twin_set_nonblocking(listener);
    if (error == 0)
        error = threads_start(&threads, WORKERS, work, NULL);
    if (error == 0)
        error = watch(epoll, listener, EPOLLIN);
    if (error == 0)
        error = watch(epoll, answered_fd, EPOLLIN | EPOLLET);
    while (error == 0)
        error = turn(twin, epoll, listener);
    return error;
}

#include "client/engines/idle_connections.h"

#include "client/engines/connect.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENT_BATCH = 64 };

struct idle {
    struct worker *worker;
    int epoll_fd;
    uint32_t count;
    int fds[]; /* −1: ended */
};

static int open_one(struct load *load, struct idle *idle, int *fd) {
    *fd = connect_socket(load, idle->worker);
    int outcome = *fd >= 0 ? connect_wait(load, *fd) : *fd;
    struct epoll_event end = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = fd};
    if (outcome == 0 && epoll_ctl(idle->epoll_fd, EPOLL_CTL_ADD, *fd, &end) != 0)
        outcome = -errno;
    return outcome;
}

int idle_open(struct load *load, struct idle **opened) {
    struct idle *idle = malloc(sizeof *idle + load->idle_count * sizeof *idle->fds);
    load->problem = "not enough memory for the idle connections; use fewer (--idle)";
    if (idle == NULL)
        return -ENOMEM;
    idle->worker = &load->workers[0];
    idle->count = 0;
    idle->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    int outcome = idle->epoll_fd >= 0 ? 0 : -errno;
    load->problem = "not all idle connections could be opened; use fewer (--idle), or raise the "
                    "server's limit";
    for (; idle->count < load->idle_count && outcome == 0; idle->count++)
        outcome = open_one(load, idle, &idle->fds[idle->count]);
    if (outcome == 0)
        *opened = idle;
    else
        idle_close(idle);
    return outcome;
}

int idle_fd(const struct idle *idle) {
    return idle->epoll_fd;
}

/* Reads a message and the end behind it: the content does not matter, even if it says why the
 * server closes. epoll is level-triggered here, and reports the descriptor until it is empty. */
static void take(struct idle *idle, int *fd) {
    char bytes[4096];
    ssize_t length = recv(*fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (length > 0)
        length = recv(*fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (length > 0 || (length < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    close(*fd);
    *fd = -1;
    idle->worker->idle_lost++;
}

int idle_serve(struct idle *idle) {
    struct epoll_event events[EVENT_BATCH];
    int count = epoll_wait(idle->epoll_fd, events, EVENT_BATCH, 0);
    for (int i = 0; i < count; i++)
        take(idle, events[i].data.ptr);
    return count;
}

void idle_serve_all(struct idle *idle) {
    for (uint32_t left = idle->count / EVENT_BATCH + 1; idle_serve(idle) > 0 && left > 0; left--)
        continue;
}

void idle_close(struct idle *idle) {
    if (idle == NULL)
        return;
    for (uint32_t i = 0; i < idle->count; i++)
        if (idle->fds[i] >= 0)
            close(idle->fds[i]);
    if (idle->epoll_fd >= 0)
        close(idle->epoll_fd);
    free(idle);
}

/* The loop of the twins of coroutines and coroutine-reactors: level-triggered, and a coroutine
 * serves each connection. */
#include "react.h"
#include "server/loops/coroutine.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

enum { EVENT_BATCH = 512 };

struct client {
    const struct twin *twin;
    struct coroutine *coroutine;
    struct asked asked;
    int fd;
};

static void converse(struct coroutine *self, void *argument) {
    struct client *client = argument;
    while (twin_turn(client->twin, &client->asked, client->fd) != OVER)
        coroutine_yield(self, 0);
}

static int watch(int epoll, int fd, uint32_t events) {
    struct epoll_event readable = {.events = events, .data.fd = fd};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &readable) == 0 ? 0 : -errno;
}

/* Returns whether it stays. */
static bool go_on(struct coroutine_pool *pool, struct client *client) {
    if (coroutine_resume(client->coroutine) >= 0)
        return true;
    coroutine_free(pool, client->coroutine);
    return false;
}

/* Accepts one client per event: the listener stays ready if more are waiting. */
static int welcome(const struct twin *twin, int epoll, int listener, struct coroutine_pool *pool,
                   struct client *clients) {
    int fd = twin_accept(listener);
    if (fd < 0)
        return fd == -EAGAIN ? 0 : fd;
    struct client *client = &clients[fd];
    *client = (struct client){.twin = twin, .fd = fd};
    client->coroutine = coroutine_new(pool, converse, client);
    if (client->coroutine == NULL)
        return -ENOMEM;
    return go_on(pool, client) ? watch(epoll, fd, EPOLLIN) : 0;
}

int react(const struct twin *twin, int listener) {
    struct client *clients = calloc(FD_SIZE, sizeof *clients); /* one per loop */
    struct coroutine_pool pool = {.spare = NULL};
    struct epoll_event events[EVENT_BATCH];
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    int error = clients == NULL || epoll < 0 ? -ENOMEM : twin_set_nonblocking(listener);
    if (error == 0)
        error = watch(epoll, listener, EPOLLIN | EPOLLEXCLUSIVE);
    while (error == 0) {
        int ready = epoll_wait(epoll, events, EVENT_BATCH, -1);
        if (ready < 0 && errno != EINTR)
            error = -errno;
        for (int i = 0; i < ready && error == 0; i++) {
            int fd = events[i].data.fd;
            if (fd == listener)
                error = welcome(twin, epoll, listener, &pool, clients);
            else
                go_on(&pool, &clients[fd]);
        }
    }
    free(clients);
    return error;
}

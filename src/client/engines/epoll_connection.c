#include "client/engines/epoll_connection.h"

#include "client/engines/carrier.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

void connection_hang_up(struct epoll_connection *c) {
    if (c->carrier != NULL)
        carrier_leave(c);
    if (c->fd >= 0)
        close(c->fd); /* this also removes it from the epoll set */
    c->fd = -1;
    c->requests = 0;
}

void connection_enter(struct epoll_engine *e, struct epoll_connection *c, enum state state) {
    e->active += state >= CONNECTING;
    e->active -= c->state >= CONNECTING;
    c->state = state;
}

void connection_rest(struct epoll_engine *e, struct epoll_connection *c) {
    connection_hang_up(c);
    connection_enter(e, c, RESTING);
    e->deadlines_ns[number_of(e, c)] = INT64_MAX;
}

int connection_watch(struct epoll_engine *e, struct epoll_connection *c) {
    /* Registering also reports the current state, so no earlier edge is missed. */
    struct epoll_event both = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    return epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, c->fd, &both) == 0 ? 0 : -errno;
}

void connection_release(struct epoll_engine *e, struct epoll_connection *c, int64_t now_ns) {
    struct free_connections *free = &e->free;
    uint32_t capacity = e->count, last = free->first + free->count++;
    e->deadlines_ns[number_of(e, c)] = INT64_MAX;
    connection_enter(e, c, FREE);
    c->free_ns = now_ns;
    free->numbers[last < capacity ? last : last - capacity] = number_of(e, c);
}

struct epoll_connection *connection_longest_free(const struct epoll_engine *e) {
    return &e->connections[e->free.numbers[e->free.first]];
}

struct epoll_connection *connection_take_free(struct epoll_engine *e) {
    struct epoll_connection *c = connection_longest_free(e);
    e->free.count--;
    if (++e->free.first == e->count)
        e->free.first = 0;
    return c;
}

/* The event loop on epoll that several designs share. */
#pragma once
#include "designs/loop.h"

#include <sys/epoll.h>

enum { EVENT_BATCH = 256 };

struct epoll_loop {
    struct loop loop;
    int fd;
    int ready;
    struct epoll_event events[EVENT_BATCH];
};

/* Both take the loop of a struct epoll_loop. */
extern const struct poller epoll_level, epoll_edge;

/* The whole design `epoll`, for one of the `reactors` as well: serves in the calling thread until
 * the server is told to stop. Returns 0 or -errno. */
int epoll_run(struct server *server);

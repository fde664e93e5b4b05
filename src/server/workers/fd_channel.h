/* A channel over which a parent passes descriptors to a child process (SCM_RIGHTS), and the child
 * reports after each one that it is free. */
#pragma once
#include "server/server.h"

#include <stdbool.h>

/* The child's end. */
struct inbox {
    int socket; /* replaced by an eventfd on a stop (stop.h), which ends a blocked receive */
    int drain;  /* the same socket, never replaced */
    bool stop_noticed;
};

/* *socket: the parent's end. Returns 0 or -errno. */
int channel_open(int *socket, struct inbox *inbox);

/* In the parent: passes a descriptor without blocking. Returns 0 or -errno (-EPIPE or -ECONNRESET
 * if the child is exiting). */
int channel_pass(int socket, int fd);

/* In the parent, when the socket is readable. Returns 1 if the child reports that it is free,
 * -EPIPE if it has died, 0 if nothing could be read now. */
int channel_read_report(int socket);

/* In the child: waits for the next descriptor. Returns it, or -EMFILE if none is free for it (it
 * can still be taken later), or another -errno if the server or only this child stops and no more
 * will come. */
int inbox_take(const struct server *server, struct inbox *inbox);

/* In the child: reports that it is free, and retries until that succeeds, because otherwise the
 * parent would never pass another client. Returns false if the parent has closed its end. */
bool inbox_report_free(const struct inbox *inbox);
void inbox_close(const struct inbox *inbox);

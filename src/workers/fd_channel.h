/* A channel over which a parent passes descriptors to a child process (SCM_RIGHTS), and the child
 * reports after each that it is free. */
#pragma once
#include "server/server.h"

#include <stdbool.h>

/* The child's end. */
struct inbox {
    int socket;    /* a stop puts an eventfd in its place (stop.h): a blocked receive ends */
    int drain;     /* the same socket, whatever a signal does */
    bool is_ended; /* the stop has been noticed */
};

/* The parent's end is *socket. Returns 0 or -errno. */
int channel_open(int *socket, struct inbox *inbox);

/* In the parent: passes a descriptor, without blocking. Returns 0 or -errno: -EPIPE or -ECONNRESET
 * if the child is leaving. */
int channel_pass(int socket, int fd);

/* In the parent, when the socket is readable: 1 if the child reports that it is free, -EPIPE if it
 * has died, 0 if this cannot be told just now. */
int channel_hear(int socket);

/* In the child: waits for the next descriptor. Returns it or -errno: -EMFILE if one has come and
 * there is no place for it: it can still be taken later; any other if the server or this child
 * alone stops and no more will come. */
int inbox_take(const struct server *server, struct inbox *inbox);

/* In the child: reports that it is free. Tries until it can: the parent would pass no other client.
 * Returns whether the parent still listens. */
bool inbox_report_free(const struct inbox *inbox);
void inbox_close(const struct inbox *inbox);

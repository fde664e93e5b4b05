/* The listening socket, and accepting from it: what every design needs of it and no strategy.
 *
 * A connection that cannot be served (no descriptor left, a limit reached) is told so and closed:
 * load is shed, and no design spins on an accept that fails. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct options;
struct server;

struct listener {
    int fd;
    bool is_nonblocking;
    bool is_draining; /* a stop was noticed: only those who waited then are still accepted */
    uint32_t waiting; /* how many of them are left */
    int drain_fd;     /* the same socket, whatever a signal does (stop.h): for what waits in the
                       * backlog then, and for event loops to watch */
    int reserve_fd;   /* given up to accept, and refuse, one connection when none is left */
};

/* Opens, binds and listens as the options say. The idle timeout is inherited by accepted sockets as
 * that of blocking reads and writes, as TCP_NODELAY is: no system call a connection.
 * options->listen becomes the bound address (port 0 asks for any). Returns 0 or -errno. */
int listener_open(struct listener *listener, struct options *options);

/* One more on the same port, for another worker of a design that shares it; the kernel spreads the
 * clients over all of them. After listener_open. */
int listener_open_beside(struct listener *listener, const struct options *options);
void listener_close(struct listener *listener);

/* For event loops: accept never blocks from now on. */
void listener_set_nonblocking(struct listener *listener);

/* A new connection's descriptor, of a socket that blocks; -EAGAIN if none waits and the listener is
 * nonblocking, or if a stop was requested and all who waited then are accepted. Everything else
 * that can go wrong is counted and dealt with here. */
int listener_accept(struct server *server);

/* Answers that the server is full, and closes. */
void listener_refuse(struct server *server, int fd);

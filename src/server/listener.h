/* The listening socket: opened, shared, drained. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct options;

/* The clients that wait to be accepted when the server stops, not one worker alone. In memory
 * shared by all workers that accept from the same socket. */
struct last_clients {
    _Atomic int32_t left; /* INT32_MIN: not counted yet; else below 1: all are taken, below 0 if
                             several workers at once took the last */
};

struct listener {
    int fd;
    bool is_nonblocking;
    bool is_draining;   /* a stop was noticed: only the last clients are accepted */
    bool is_borrowed;   /* by a worker process: when it alone is told to stop, the server does not
                           drain */
    bool is_given;      /* opened by whoever started the server */
    bool is_of_another; /* a listener that closes last_clients: they have one queue */
    struct last_clients *last_clients;
    int drain_fd;   /* the same socket, which no signal replaces (stop.h): for the backlog after a
                       stop, and for event loops to watch */
    int reserve_fd; /* closed to accept and refuse one connection when no descriptor is left */
};

/* Opens, binds and listens as the options say. Accepted sockets inherit the idle timeout, for
 * blocking reads and writes, and TCP_NODELAY: no system call per connection. options->listen
 * becomes the bound address (port 0 asks for any). Returns 0 or -errno. */
int listener_open(struct listener *listener, struct options *options);

/* The same with a listening socket that the server was given, and that others may hold: a server
 * that drains while this one starts, or starts while this one drains. All share its queue and its
 * settings, and as soon as one of them may not block in accept, none does. Returns 0 or -errno,
 * -ENOTSOCK if it is not a listening TCP socket. */
int listener_take(struct listener *listener, struct options *options, int fd);

/* For a design with a listener per worker: opens the other options->workers - 1 on the port of
 * `first`, and the kernel spreads the clients over all of them. A given socket's port is not ours
 * to share: then all use the same socket, and the first worker to accept gets the client. The
 * caller closes them and frees *others. Returns 0 or -errno. */
int listeners_open_others(struct listener **others, const struct listener *first,
                          const struct options *options);
void listener_close(struct listener *listener);

/* In a process that accepts nothing and ends soon: it must not keep the socket open. The rest is
 * not worth a system call. */
void listener_leave(const struct listener *listener);

/* The server stops: counts the waiting clients, once. listener_accept does it unless the listener
 * is borrowed. */
void listener_begin_draining(struct listener *listener);

/* For a worker that was told to stop: it alone was, and waiting clients are left to the others. */
bool listener_is_left_to_others(const struct listener *listener);

/* Whether one of the last clients still waits. */
bool listener_has_last_clients(const struct listener *listener);

/* For event loops: accept never blocks from now on. */
void listener_set_nonblocking(struct listener *listener);

/* Opens a descriptor to give up when none is left; -1: there is none. */
int listener_open_reserve(void);

/* The listening socket: opened, shared, drained. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct options;

/* The clients in the backlog when the whole server stops. In memory shared by all workers that
 * accept from the same socket. */
struct last_clients {
    _Atomic int32_t left; /* INT32_MIN: not counted yet; below 1: all are accepted (below 0 if
                             several workers raced for the last) */
};

struct listener {
    int fd;
    bool is_nonblocking;
    bool is_draining; /* a stop was noticed: only last_clients are accepted */
    bool is_borrowed; /* a worker process's: if only that is told to stop, the server does not drain
                       */
    bool is_inherited; /* opened by the process that started the server */
    bool shares_queue; /* with another listener, which owns last_clients */
    struct last_clients *last_clients;
    int drain_fd;   /* the same socket, which no signal replaces (stop.h): to accept the backlog
                       after a stop, and for event loops to watch */
    int reserve_fd; /* closed to accept and refuse a connection when descriptors ran out */
};

/* Opens, binds and listens as the options say. Accepted sockets inherit the idle timeout, for
 * blocking reads and writes, and TCP_NODELAY: no system call per connection. options->listen
 * becomes the bound address (port 0 asks for any). Returns 0 or -errno. */
int listener_open(struct listener *listener, struct options *options);

/* The same with an inherited listening socket. Other processes may have it too: a server that
 * drains while this one starts, or starts while this one drains. They share its backlog and its
 * settings: once one of them makes it nonblocking, it is so for all. Returns 0 or -errno, -ENOTSOCK
 * if it is not a listening TCP socket. */
int listener_adopt(struct listener *listener, struct options *options, int fd);

/* For a design with a listener per worker: opens the other options->workers - 1 on the port of
 * `first`, and the kernel spreads the clients over all of them. The port of an inherited socket
 * cannot be shared: then all use that socket, and the first worker to accept gets the client. The
 * caller closes them and frees *others. Returns 0 or -errno. */
int listeners_open_others(struct listener **others, const struct listener *first,
                          const struct options *options);
void listener_close(struct listener *listener);

/* For a short-lived process that accepts nothing: closes only the socket. Other descriptors are not
 * worth a system call. */
void listener_leave(const struct listener *listener);

/* The server stops: counts the clients in the backlog, once, and ends the listening if there are
 * none. listener_accept does this unless the listener is borrowed. Safe in signal handlers. */
void listener_begin_draining(struct listener *listener);

/* Once the last clients are accepted: ends the listening, so that later clients are refused and
 * look elsewhere, and the next server can take the port. Not of an inherited socket, from which
 * another server may be accepting. */
void listener_end(const struct listener *listener);

/* Whether the server stops, and no last client is left to accept. */
bool listener_has_ended(const struct listener *listener);

/* Whether this worker alone was told to stop, so that other workers serve the backlog. */
bool listener_is_left_to_others(const struct listener *listener);

/* Whether any of the last clients is still in the backlog. */
bool listener_has_last_clients(const struct listener *listener);

/* For event loops: accept never blocks from now on. */
void listener_set_nonblocking(struct listener *listener);

/* Opens the reserve descriptor; -1: none is left. */
int listener_open_reserve(void);

/* The listening socket: opened, shared, drained. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct options;

/* Those who wait to be accepted when the server stops, and nobody who connects later. In memory
 * that all processes share which accept from the same socket. */
struct last_clients {
    _Atomic bool are_counted; /* the server stops, not one worker alone */
    _Atomic int32_t left;     /* how many of them; below 0 when several workers took the last */
};

struct listener {
    int fd;
    bool is_nonblocking;
    bool is_draining; /* a stop was noticed: only the last clients are still accepted */
    bool is_borrowed; /* by a worker process: that it alone is told to stop is no drain */
    bool is_given;    /* opened by whoever started the server */
    struct last_clients *last_clients;
    int drain_fd;   /* the same socket, whatever a signal does (stop.h): for what waits in the
                     * backlog then, and for event loops to watch */
    int reserve_fd; /* given up to accept, and refuse, one connection when none is left */
};

/* Opens, binds and listens as the options say. The idle timeout is inherited by accepted sockets as
 * that of blocking reads and writes, as TCP_NODELAY is: no system call a connection.
 * options->listen becomes the bound address (port 0 asks for any). Returns 0 or -errno. */
int listener_open(struct listener *listener, struct options *options);

/* The same of a socket that listens already, which whoever started the server has given it. Returns
 * 0 or -errno, -ENOTSOCK if it is no listening TCP socket. */
int listener_take(struct listener *listener, struct options *options, int fd);

/* Those of the other workers, options->workers - 1 of them, of a design that shares its port: on
 * the same port, and the kernel spreads the clients over all of them. Where `first` was given, its
 * port is not ours to share, and they are the same socket: whichever worker is first has the
 * client. After `first`. The caller closes them and frees *others. Returns 0 or -errno. */
int listeners_open_others(struct listener **others, const struct listener *first,
                          const struct options *options);
void listener_close(struct listener *listener);

/* In a process that accepts nothing and ends soon: the socket shall not stay open by it. The rest
 * is not worth a system call. */
void listener_leave(const struct listener *listener);

/* The server stops: counts those who wait. Once; listener_accept does it where the listener is not
 * borrowed. */
void listener_begin_draining(struct listener *listener);

/* For a worker that was told to stop: it alone was, and whoever waits is left to the others. */
bool listener_is_left_to_others(const struct listener *listener);

/* Whether one of the last clients waits still. */
bool listener_has_last_clients(const struct listener *listener);

/* For event loops: accept never blocks from now on. */
void listener_set_nonblocking(struct listener *listener);

/* A descriptor to give up when none is left. */
int listener_open_reserve(void);

/* What the twins share: the reply, a listener, serving a connection, and the end.
 *
 * A twin is the smallest correct server with the strategy of one of our designs: it accepts, reads,
 * writes and closes in the same way, and does nothing else. Its cost is that of the strategy; the
 * rest of a design's cost is our own code. A twin knows only where a request ends and whether it is
 * the connection's last: no limits, no timeouts, no parser, no pipelining.
 *
 * usage: TWIN HOST:PORT [REPLY-FILE], a complete HTTP reply; default: one like ours. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    REPLY_SIZE = 4096, /* fits into any empty socket buffer */
    READ_SIZE = 1024,
    FD_SIZE = 1 << 16, /* the limit of open files, so all descriptors are below */
    WORKERS = 16,      /* in a pool, as in ours by default */
};

struct twin {
    const char *host; /* HOST:PORT, also for further listeners */
    char reply[REPLY_SIZE], last[REPLY_SIZE];
    size_t reply_length, last_length; /* last: with Connection: close */
};

/* The twin itself, one per file. Returns -errno; normally a signal ends it. */
int serve(const struct twin *twin);

/* Returns a listening socket like ours, or -errno. shares_port: with SO_REUSEPORT. */
int twin_listen(const struct twin *twin, bool shares_port);
int twin_set_nonblocking(int fd);

/* Accepts the next client. Returns its descriptor; -EAGAIN if a nonblocking listener has none;
 * another -errno if no more can be accepted. */
int twin_accept(int listener);

/* Makes SIGTERM end all processes of the group, this one last. */
void twin_end_together(void);

/* The last bytes of a request, which show whether it is complete. */
struct asked {
    char tail[8];
};

/* The result of a turn: closed; open; open, and more may have arrived. */
enum state { OVER, STAYS, MORE };

/* One nonblocking read, and the reply if the request is complete. */
enum state twin_turn(const struct twin *twin, struct asked *asked, int fd);

/* Its two halves: whether the request is complete; and sending the reply, which closes the
 * connection if that was the last request. Returns whether the connection stays open. */
bool asked_is_whole(struct asked *asked, const char *bytes, size_t length);
bool asked_is_last(const struct asked *asked);
bool twin_reply(const struct twin *twin, const struct asked *asked, int fd);

/* Serves a connection on a blocking socket to its end, and closes it. */
void twin_converse(const struct twin *twin, int fd);

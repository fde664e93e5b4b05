/* What the bare twins share: the bytes that they send, a listener, one conversation, and their end.
 *
 * A twin is the smallest correct server of the same strategy as one of our designs: it accepts,
 * reads, writes and closes by the same means, and there is nothing else in it. What ours costs more
 * is our own, and what the twin costs is the strategy's. It knows no requests but where one ends,
 * and whether it is the connection's last: no limits, no timeouts, no parser. One request at a
 * time: a client sends the next when it has the reply.
 *
 * usage: TWIN HOST:PORT [REPLY-FILE], a whole HTTP reply; without it one like ours. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    REPLY_SIZE = 4096, /* less than the least that a socket takes while nothing waits in it */
    READ_SIZE = 1024,
    FD_SIZE = 1 << 16, /* all descriptors are below: the limit of open files sees to it */
    WORKERS = 16,      /* of a pool: as many as ours has by default */
};

struct twin {
    const char *host; /* HOST:PORT, for further listeners */
    char reply[REPLY_SIZE], last[REPLY_SIZE];
    size_t reply_length, last_length; /* last: the same, and that the connection ends with it */
};

/* The twin itself, of which each file has one. Returns -errno; a signal ends it otherwise. */
int serve(const struct twin *twin);

/* A socket that listens as ours does; one of several on the same port if it shares that. Returns it
 * or -errno. */
int twin_listen(const struct twin *twin, bool shares_port);
int twin_set_nonblocking(int fd);

/* The next client's descriptor; -errno: none waits in a listener that does not block (-EAGAIN), or
 * there can be none. */
int twin_accept(int listener);

/* SIGTERM ends all processes of this one's group, which is its own, and it is the last of them. */
void twin_end_together(void);

/* The last bytes of what came of a request: by them one knows where it ends. */
struct asked {
    char tail[8];
};

/* What a turn leaves: it is closed; it stays; it stays, and more may have come already. */
enum state { OVER, STAYS, MORE };

/* One read that does not wait, and the reply to what is whole. */
enum state twin_turn(const struct twin *twin, struct asked *asked, int fd);

/* The two halves of it: whether the request is whole now; and whether the connection stays after
 * the reply, and is closed otherwise. */
bool asked_is_whole(struct asked *asked, const char *bytes, size_t length);
bool asked_is_last(const struct asked *asked);
bool twin_reply(const struct twin *twin, const struct asked *asked, int fd);

/* The whole conversation on a socket that blocks; closes it. */
void twin_converse(const struct twin *twin, int fd);

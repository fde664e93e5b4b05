/* What the bare twins share: their reply, a listener, a conversation, and their end.
 *
 * A twin is the smallest correct server with the strategy of one of our designs: it accepts, reads,
 * writes and closes in the same way, and does nothing else. Its cost is the strategy's; what ours
 * costs more is our own. Of a request it knows only where it ends, and whether it is the
 * connection's last: no limits, no timeouts, no parser. One request at a time: a client sends the
 * next when it has the reply.
 *
 * usage: TWIN HOST:PORT [REPLY-FILE], a complete HTTP reply; by default one like ours. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    REPLY_SIZE = 4096, /* less than the smallest empty socket buffer */
    READ_SIZE = 1024,
    FD_SIZE = 1 << 16, /* all descriptors are below: the limit of open files ensures it */
    WORKERS = 16,      /* of a pool: our default */
};

struct twin {
    const char *host; /* HOST:PORT, for further listeners */
    char reply[REPLY_SIZE], last[REPLY_SIZE];
    size_t reply_length, last_length; /* last: the same, for the connection's last request */
};

/* The twin itself, one per file. Returns -errno; normally a signal ends it. */
int serve(const struct twin *twin);

/* Returns a listening socket like ours, or -errno; with a shared port, one of several. */
int twin_listen(const struct twin *twin, bool shares_port);
int twin_set_nonblocking(int fd);

/* Accepts the next client: returns its descriptor; -EAGAIN: none waits at a nonblocking listener;
 * another -errno: no more can be accepted. */
int twin_accept(int listener);

/* From now on SIGTERM ends all processes of this one's group, this one last. */
void twin_end_together(void);

/* The last bytes received of a request, which show whether it is complete. */
struct asked {
    char tail[8];
};

/* The result of a turn: closed; open; open, and more may have arrived. */
enum state { OVER, STAYS, MORE };

/* One nonblocking read, and the reply if the request is complete. */
enum state twin_turn(const struct twin *twin, struct asked *asked, int fd);

/* The two halves of it: whether the request is complete; and the reply, after which it returns
 * whether the connection stays open, and otherwise closes it. */
bool asked_is_whole(struct asked *asked, const char *bytes, size_t length);
bool asked_is_last(const struct asked *asked);
bool twin_reply(const struct twin *twin, const struct asked *asked, int fd);

/* The whole conversation on a blocking socket; closes it. */
void twin_converse(const struct twin *twin, int fd);

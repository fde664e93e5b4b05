#include "server/log.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/shared_memory.h"
#include "base/shared_mutex.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>

enum {
    LINES_PER_SECOND = 400, /* more are counted, not printed */
    CLIENTS = 1 << 16,      /* known at a time */
    PLACES = 16,            /* in which a client may stand, one after the other */
};

/* One that has connected. The kernel's cookie of its socket is the same in every process that has
 * the socket, which its descriptor is not. */
struct client {
    uint64_t cookie;
    uint64_t number; /* from 1, in the order of their first lines; 0: nobody */
    char address[ADDRESS_TEXT_LIMIT];
};

struct log {
    pthread_mutex_t lock; /* guards what follows, and keeps lines apart */
    int64_t second;
    unsigned printed, left_out; /* lines of this second */
    uint64_t last_number;
    struct client clients[CLIENTS];
};

struct log *log_open(void) {
    struct log *log = shared_memory_take(sizeof *log);
    if (log != NULL && shared_mutex_open(&log->lock) != 0) {
        log_close(log);
        return NULL;
    }
    return log;
}

void log_close(struct log *log) {
    if (log != NULL)
        shared_memory_give(log, sizeof *log);
}

/* What follows is called with the lock held. */

static bool may_print(struct log *log) {
    int64_t now = clock_monotonic_ns() / NS_PER_S;
    if (now != log->second) {
        if (log->left_out > 0)
            printf("... and %u more lines\n", log->left_out);
        log->second = now;
        log->printed = log->left_out = 0;
    }
    if (log->printed >= LINES_PER_SECOND) {
        log->left_out++;
        return false;
    }
    log->printed++;
    return true;
}

/* The client's place; of one who is not known yet, a free one, or that of whoever is known the
 * longest: its process died before it could say that the client has gone. */
static struct client *place_of(struct log *log, uint64_t cookie) {
    struct client *place = &log->clients[cookie % CLIENTS];
    for (unsigned i = 0; i < PLACES; i++) {
        struct client *client = &log->clients[(cookie + i) % CLIENTS];
        if (client->number > 0 && client->cookie == cookie)
            return client;
        if (client->number < place->number)
            place = client;
    }
    return place;
}

static void introduce(struct log *log, struct client *client, int fd, uint64_t cookie) {
    struct address peer = {.length = sizeof peer.storage};
    *client = (struct client){.cookie = cookie, .number = ++log->last_number, .address = "?"};
    if (getpeername(fd, (struct sockaddr *)&peer.storage, &peer.length) == 0)
        address_format(&peer, client->address);
}

static struct client *find(struct log *log, int fd) {
    uint64_t cookie = 0;
    socklen_t length = sizeof cookie;
    getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &length);
    struct client *client = place_of(log, cookie);
    if (client->number == 0 || client->cookie != cookie)
        introduce(log, client, fd, cookie);
    return client;
}

static void say(struct log *log, const struct client *client, const char *what) {
    if (!may_print(log))
        return;
    printf("client %-4" PRIu64 " %-21s  %s\n", client->number, client->address, what);
    fflush(stdout);
}

/* Up to here. */

void log_print(struct log *log, int fd, const char *what) {
    shared_mutex_lock(&log->lock);
    say(log, find(log, fd), what);
    pthread_mutex_unlock(&log->lock);
}

void log_print_end(struct log *log, int fd) {
    shared_mutex_lock(&log->lock);
    struct client *client = find(log, fd);
    say(log, client, "disconnected");
    client->number = 0;
    pthread_mutex_unlock(&log->lock);
}

/* Of what a client sent nothing is printed as it came. */
void log_print_request(struct log *log, int fd, const struct request *request) {
    static const char *const kinds[] = {
        [REQUEST_HEALTH] = "asks health",
        [REQUEST_AUTH] = "asks auth",
        [REQUEST_METRICS] = "asks metrics",
        [REQUEST_INVALID] = "asks what is no request",
    };
    char what[128];
    if (request->kind != REQUEST_TOP) {
        log_print(log, fd, kinds[request->kind]);
        return;
    }
    snprintf(what, sizeof what, "asks top %u%s%s%s%s%s", request->rows,
             request->by == BY_RECENT ? " recently" : "",
             request->group != GROUP_NONE ? " in groups" : "",
             request->wants_threads ? " with threads" : "",
             request->wants_command ? " with command lines" : "",
             request->format == FORMAT_JSON ? " as JSON" : "");
    log_print(log, fd, what);
}

void log_print_answer(struct log *log, int fd, const struct request *request, enum status status) {
    char what[128];
    bool is_valid = request->kind != REQUEST_INVALID;
    snprintf(what, sizeof what, "answered %d%s%s", (int)status, is_valid ? "" : ": ",
             is_valid ? "" : request->problem);
    log_print(log, fd, what);
}

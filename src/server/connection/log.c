#include "server/connection/log.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/shared_memory.h"
#include "base/shared_mutex.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINES_PER_SECOND = 400, /* more are counted, not printed */
    CLIENTS = 1 << 16,      /* slots of the table */
    PROBES = 16,            /* consecutive slots in which a client may be */
    LINE_BYTES = 320,       /* below PIPE_BUF: a pipe takes all of it or nothing */
};

/* A connected client, known by the kernel's cookie of its socket: that is the same in every process
 * that has the socket, unlike the descriptor. */
struct client {
    uint64_t cookie;
    uint64_t number; /* from 1, in the order of first lines; 0: the slot is free */
    char address[ADDRESS_TEXT_LIMIT];
};

/* How to write to stdout without waiting for whoever reads it. */
enum output {
    OUTPUT_OWN,    /* a nonblocking description of our own: other programs may have stdout's */
    OUTPUT_SOCKET, /* of a service manager: each call says that it must not wait */
    OUTPUT_ASK,    /* a file, or nothing better is possible: ask first */
};

struct log {
    enum output output;
    int fd;
    pthread_mutex_t lock; /* guards what follows and the output */
    int64_t second;
    unsigned printed;  /* lines of this second */
    unsigned left_out; /* ... since the last one that was printed */
    bool is_cut;       /* a terminal took only the beginning of the last */
    uint64_t last_number;
    struct client clients[CLIENTS];
};

static void open_output(struct log *log) {
    struct stat status;
    const bool is_known = fstat(STDOUT_FILENO, &status) == 0;
    log->fd = STDOUT_FILENO;
    log->output = is_known && S_ISSOCK(status.st_mode) ? OUTPUT_SOCKET : OUTPUT_ASK;
    if (!is_known || !(S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)))
        return;
    int own = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own < 0)
        return;
    log->fd = own;
    log->output = OUTPUT_OWN;
}

struct log *log_open(void) {
    struct log *log = shared_memory_map(sizeof *log);
    if (log != NULL && shared_mutex_open(&log->lock) != 0) {
        shared_memory_unmap(log, sizeof *log);
        return NULL;
    }
    if (log != NULL)
        open_output(log);
    return log;
}

void log_close(struct log *log) {
    if (log == NULL)
        return;
    if (log->output == OUTPUT_OWN)
        close(log->fd);
    shared_memory_unmap(log, sizeof *log);
}

/* The next functions are called with the lock held. */

static bool may_print(struct log *log) {
    int64_t now = clock_monotonic_ns() / NS_PER_S;
    if (now != log->second)
        log->printed = 0;
    log->second = now;
    return log->printed < LINES_PER_SECOND;
}

/* Returns what was written, or -1. A log that nobody reads must not stop the server: waits only for
 * a terminal of another user, which cannot be opened again. */
static ssize_t put(const struct log *log, const struct text *line) {
    struct pollfd room = {.fd = log->fd, .events = POLLOUT};
    if (log->output == OUTPUT_SOCKET)
        return send(log->fd, line->bytes, line->length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (log->output == OUTPUT_ASK && poll(&room, 1, 0) <= 0)
        return -1;
    return write(log->fd, line->bytes, line->length);
}

/* The client's slot. For a new client: a free slot, or that of the oldest client, whose process
 * presumably died without logging the end of the connection. */
static struct client *slot_of(struct log *log, uint64_t cookie) {
    struct client *slot = &log->clients[cookie % CLIENTS];
    for (unsigned i = 0; i < PROBES; i++) {
        struct client *client = &log->clients[(cookie + i) % CLIENTS];
        if (client->number > 0 && client->cookie == cookie)
            return client;
        if (client->number < slot->number)
            slot = client;
    }
    return slot;
}

static void add_client(struct log *log, struct client *client, int fd, uint64_t cookie) {
    struct address peer = {.length = sizeof peer.storage};
    *client = (struct client){.cookie = cookie, .number = ++log->last_number, .address = "?"};
    if (getpeername(fd, (struct sockaddr *)&peer.storage, &peer.length) == 0)
        address_format(&peer, client->address);
}

static struct client *find(struct log *log, int fd) {
    uint64_t cookie = 0;
    socklen_t length = sizeof cookie;
    getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &length);
    struct client *client = slot_of(log, cookie);
    if (client->number == 0 || client->cookie != cookie)
        add_client(log, client, fd, cookie);
    return client;
}

static void say(struct log *log, const struct client *client, const char *what) {
    char space[LINE_BYTES];
    struct text line = text_fixed(space, sizeof space);
    if (log->is_cut)
        text_add(&line, "\n", 1);
    if (log->left_out > 0)
        text_addf(&line, "... and %u more lines\n", log->left_out);
    text_addf(&line, "client %-4" PRIu64 " %-21s  %s\n", client->number, client->address, what);
    ssize_t written = may_print(log) ? put(log, &line) : -1;
    if (written <= 0) {
        log->left_out++;
        return;
    }
    log->printed++;
    log->left_out = 0;
    log->is_cut = (size_t)written < line.length;
}

void log_print(struct log *log, int fd, const char *what) {
    shared_mutex_lock(&log->lock);
    say(log, find(log, fd), what);
    pthread_mutex_unlock(&log->lock);
}

void log_print_disconnect(struct log *log, int fd) {
    shared_mutex_lock(&log->lock);
    struct client *client = find(log, fd);
    say(log, client, "disconnected");
    client->number = 0;
    pthread_mutex_unlock(&log->lock);
}

/* Prints nothing that the client sent verbatim. */
void log_print_request(struct log *log, int fd, const struct request *request) {
    static const char *const kinds[] = {
        [REQUEST_HEALTH] = "asks health",
        [REQUEST_AUTH] = "asks auth",
        [REQUEST_METRICS] = "asks metrics",
        [REQUEST_INVALID] = "sends an invalid request",
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

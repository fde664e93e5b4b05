/* fork-per-client: a new process for each connection.
 *
 * The parent accepts and forks; the child serves its client to the end with blocking calls. A slow
 * client holds up no other, and a crash ends only one connection. Each connection costs a process:
 * creation and exit, page tables and page faults, some 150 us of CPU. */
#include "base/backoff.h"
#include "base/clock.h"
#include "base/hot.h"
#include "server/connection/accept.h"
#include "server/design.h"
#include "server/server.h"
#include "server/stop.h"
#include "server/workers/children.h"
#include "server/workers/deaths.h"
#include "server/workers/serve_client.h"

#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>
#include <sys/single_threaded.h>
#include <unistd.h>

enum {
    IDLE_MS = 50, /* without a new client: from then on, each child is reaped as it exits */
    STACK_PAGE = 4096,
};

struct parent {
    struct server *server;
    struct children *children;
    struct deaths deaths;
};

/* In the child. SIGCHLD stays blocked: a child has no children. */
HOT static void serve(struct server *server, int fd, struct ending ending) {
    if (stop_after_fork(-1) != 0)
        _exit(EXIT_FAILURE);
    listener_leave(&server->listener);
    /* Read shared memory before writing to it: see shared_memory.h. */
    (void)stats_read(&server->stats->open);
    serve_client_uncounted(server, fd);
    ending_say(ending);
    _exit(EXIT_SUCCESS);
}

/* Counts the connection first: the child may report the number of open ones before the parent runs.
 *
 * _Fork suffices if there are no other threads: in fork, the child would copy three more pages to
 * clean up after them. */
HOT static pid_t fork_counted(struct server *server) {
    stats_add(&server->stats->open);
    pid_t pid = __libc_single_threaded ? _Fork() : fork();
    if (pid < 0)
        stats_subtract(&server->stats->open);
    return pid;
}

HOT static void start(const struct parent *parent, int fd) {
    struct server *server = parent->server;
    struct children *children = parent->children;
    struct ending ending = children_next(children);
    bool has_room = children->count < server->options->max_connections;
    pid_t pid = has_room ? fork_counted(server) : -1;
    if (pid == 0)
        serve(server, fd, ending);
    if (pid > 0) {
        children_add(children, pid);
        close(fd);
    } else {
        listener_refuse(server, fd);
    }
}

static void reap_all(const struct parent *parent) {
    deaths_clear(&parent->deaths);
    children_reap_all(parent->children);
}

/* Waits once. While clients keep coming, children are reaped along with each accept: waking up for
 * every exit would cost two context switches. Otherwise they are reaped as they exit. */
HOT static void turn(const struct parent *parent) {
    enum { CLIENT, STOP, DEATHS, WAITS };
    struct children *children = parent->children;
    struct pollfd waits[WAITS] = {
        {.fd = parent->server->listener.drain_fd, .events = POLLIN},
        {.fd = stop_fd(), .events = POLLIN},
        {.fd = children->is_idle ? parent->deaths.fd : -1, .events = POLLIN},
    };
    poll_or_back_off(waits, WAITS, children->is_idle || children->count == 0 ? -1 : IDLE_MS);
    children->is_idle = waits[CLIENT].revents == 0;
    if (children->is_idle) {
        reap_all(parent);
        return;
    }
    children_reap(children);
    int fd = listener_accept(parent->server);
    if (fd >= 0)
        start(parent, fd);
}

/* Not inlined: its frame must be the first in a page, see run. */
__attribute__((noinline)) HOT static void serve_until_stopped(const struct parent *parent) {
    while (!stop_is_requested())
        turn(parent);
}

static void wait_for_exits(const struct parent *parent, int wait_ms) {
    struct pollfd waits = {.fd = parent->deaths.fd, .events = POLLIN};
    poll_or_back_off(&waits, 1, wait_ms < 0 || wait_ms > IDLE_MS ? IDLE_MS : wait_ms);
    reap_all(parent);
}

/* Serves the backlog, stops the children, and kills those that do not stop in time. */
static void drain(const struct parent *parent) {
    int64_t left_ns, deadline_ns;
    for (int fd; (fd = listener_accept(parent->server)) >= 0;)
        start(parent, fd);
    deadline_ns = clock_monotonic_ns() + (stop_left_ms() + GRACE_MS) * (int64_t)NS_PER_MS;
    children_signal(parent->children, SIGTERM);
    while (parent->children->count > 0 && (left_ns = deadline_ns - clock_monotonic_ns()) > 0)
        wait_for_exits(parent, (int)(left_ns / NS_PER_MS) + 1);
    children_signal(parent->children, SIGKILL);
    while (parent->children->count > 0)
        wait_for_exits(parent, -1);
}

static int run(struct server *server) {
    /* Aligned, so that the frames of the functions called here begin on a page boundary of the
     * stack: a child then writes to, and copies, one page instead of two. */
    alignas(STACK_PAGE) struct parent parent = {.server = server,
                                                .children = children_open(server)};
    if (parent.children == NULL)
        return -ENOMEM;
    int error = output_shares_open(&server->shares, server->options->max_connections);
    if (error == 0)
        error = deaths_open(&parent.deaths);
    if (error == 0) {
        listener_set_nonblocking(&server->listener);
        serve_until_stopped(&parent);
        drain(&parent);
        deaths_close(&parent.deaths);
    }
    if (server->shares.shares != NULL)
        output_shares_close(&server->shares);
    children_close(parent.children);
    return error;
}

const struct design design_fork_per_client = {
    .name = "fork-per-client",
    .summary = "a new process for each connection",
    .scans_uncached = true,
    .run = run,
};

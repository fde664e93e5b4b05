/* fork-per-client: a new process for each connection.
 *
 * The parent accepts and forks; the child serves its client to the end with blocking calls. A slow
 * client holds up no other, and a crash ends only one connection. Each connection costs a process:
 * creation and exit, page tables and page faults, some 200 us of CPU. */
#include "base/backoff.h"
#include "base/clock.h"
#include "base/hot.h"
#include "connection/accept.h"
#include "lifecycle/stop.h"
#include "server/design.h"
#include "server/server.h"
#include "workers/deaths.h"
#include "workers/serve_client.h"

#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    IDLE_MS = 50, /* without a new client: from then on, each child is reaped as it exits */
    STACK_PAGE = 4096,
};

/* In memory that children do not inherit: the parent writes to it for each child, and would have to
 * copy a page each time. */
struct children {
    bool is_idle; /* no client came during the last wait */
    unsigned count;
    pid_t pids[];
};

struct parent {
    struct server *server;
    struct children *children;
    struct deaths deaths;
};

static size_t children_bytes(const struct server *server) {
    return sizeof(struct children) + server->options->max_connections * sizeof(pid_t);
}

/* Returns NULL if memory ran out. */
static struct children *open_children(const struct server *server) {
    size_t bytes = children_bytes(server);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_DONTFORK);
    return memory;
}

/* The parent counts open connections, not the children, which may die at any point. */
static void remove_child(const struct parent *parent, pid_t pid) {
    struct children *children = parent->children;
    for (unsigned i = 0; i < children->count; i++)
        if (children->pids[i] == pid) {
            children->pids[i] = children->pids[--children->count];
            stats_subtract(&parent->server->stats->open);
            return;
        }
}

HOT static void reap(const struct parent *parent) {
    struct rusage used;
    pid_t pid = 0;
    int status;
    while (parent->children->count > 0 && (pid = wait4(-1, &status, WNOHANG, &used)) > 0) {
        if (status != 0)
            output_shares_forget(&parent->server->shares, parent->server->stats, pid);
        stats_add_reaped(parent->server->stats, &used);
        remove_child(parent, pid);
    }
    if (pid < 0) /* wait4 failed: try again soon */
        parent->children->is_idle = false;
}

/* In the child. SIGCHLD stays blocked: a child has no children. */
HOT static void serve(struct server *server, int fd) {
    if (stop_after_fork(-1) != 0)
        _exit(EXIT_FAILURE);
    listener_leave(&server->listener);
    /* Read shared memory before writing to it: see shared_memory.h. */
    (void)stats_read(&server->stats->open);
    serve_client_uncounted(server, fd);
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
    bool has_room = children->count < server->options->max_connections;
    pid_t pid = has_room ? fork_counted(server) : -1;
    if (pid == 0)
        serve(server, fd);
    if (pid > 0) {
        children->pids[children->count++] = pid;
        close(fd);
    } else {
        listener_refuse(server, fd);
    }
}

/* Waits once. While clients keep coming, ended children are reaped along with each accept: waking
 * up for every exit would cost two context switches. Otherwise they are reaped as they exit. */
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
    if (children->is_idle)
        deaths_clear(&parent->deaths);
    reap(parent);
    int fd = children->is_idle ? -EAGAIN : listener_accept(parent->server);
    if (fd >= 0)
        start(parent, fd);
}

/* Not inlined: its frame must be the first in a page, see run. */
__attribute__((noinline)) HOT static void serve_until_stopped(const struct parent *parent) {
    while (!stop_is_requested())
        turn(parent);
}

static void signal_all(const struct children *children, int signal_number) {
    for (unsigned i = 0; i < children->count; i++)
        kill(children->pids[i], signal_number);
}

static void wait_for_exits(const struct parent *parent, int wait_ms) {
    struct pollfd waits = {.fd = parent->deaths.fd, .events = POLLIN};
    poll_or_back_off(&waits, 1, wait_ms < 0 || wait_ms > IDLE_MS ? IDLE_MS : wait_ms);
    deaths_clear(&parent->deaths);
    reap(parent);
}

/* Serves the backlog, stops the children, and kills those that do not stop in time. */
static void drain(const struct parent *parent) {
    int64_t left_ns, deadline_ns;
    for (int fd; (fd = listener_accept(parent->server)) >= 0;)
        start(parent, fd);
    deadline_ns = clock_monotonic_ns() + (stop_left_ms() + GRACE_MS) * (int64_t)NS_PER_MS;
    signal_all(parent->children, SIGTERM);
    while (parent->children->count > 0 && (left_ns = deadline_ns - clock_monotonic_ns()) > 0)
        wait_for_exits(parent, (int)(left_ns / NS_PER_MS) + 1);
    signal_all(parent->children, SIGKILL);
    while (parent->children->count > 0)
        wait_for_exits(parent, -1);
}

static int run(struct server *server) {
    /* Aligned, so that the frames of the functions called here begin on a page boundary of the
     * stack: a child then writes to, and copies, one page instead of two. */
    alignas(STACK_PAGE) struct parent parent = {.server = server,
                                                .children = open_children(server)};
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
    munmap(parent.children, children_bytes(server));
    return error;
}

const struct design design_fork_per_client = {
    .name = "fork-per-client",
    .summary = "a new process for each connection",
    .scans_uncached = true,
    .run = run,
};

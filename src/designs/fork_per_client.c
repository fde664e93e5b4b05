/* fork-per-client: a new process for each connection.
 *
 * The parent accepts and forks; the child serves its client to the end with blocking calls. A slow
 * client holds up nobody, and a crash of one child harms no other. Each connection costs a process:
 * creation and exit, page tables and page faults, some 200 us of CPU. */
#include "base/clock.h"
#include "base/hot.h"
#include "base/pause.h"
#include "server/deaths.h"
#include "server/design.h"
#include "server/server.h"
#include "server/stop.h"
#include "workers/converse.h"

#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    QUIET_MS = 50, /* without a client: from then on children are reaped as they end */
    STACK_PAGE = 4096,
};

/* The living children. In memory that no child inherits: the parent writes there for each, and
 * would copy a page each time. */
struct living {
    bool is_quiet; /* no client came while the parent waited */
    unsigned count;
    pid_t pids[];
};

struct parent {
    struct server *server;
    struct living *living;
    struct deaths deaths;
};

static size_t living_bytes(const struct server *server) {
    return sizeof(struct living) + server->options->max_connections * sizeof(pid_t);
}

/* NULL: there is no memory. */
static struct living *open_living(const struct server *server) {
    size_t bytes = living_bytes(server);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_DONTFORK);
    return memory;
}

/* Open connections are counted here, as living children, and not by the children, which may die at
 * any point. */
static void forget(const struct parent *parent, pid_t pid) {
    struct living *living = parent->living;
    for (unsigned i = 0; i < living->count; i++)
        if (living->pids[i] == pid) {
            living->pids[i] = living->pids[--living->count];
            stats_subtract(&parent->server->stats->open);
            return;
        }
}

HOT static void reap(const struct parent *parent) {
    struct rusage used;
    pid_t pid = 0;
    while (parent->living->count > 0 && (pid = wait4(-1, NULL, WNOHANG, &used)) > 0) {
        stats_add_reaped(parent->server->stats, &used);
        forget(parent, pid);
    }
    if (pid < 0) /* the system would not say: it is asked again soon */
        parent->living->is_quiet = false;
}

/* In the child. SIGCHLD stays blocked: it has no children. */
HOT static void serve(struct server *server, int fd) {
    if (stop_after_fork(-1) != 0)
        _exit(EXIT_FAILURE);
    listener_leave(&server->listener);
    /* What is shared is read before it is written: see shared_memory.h. */
    (void)stats_read(&server->stats->open);
    converse_uncounted(server, fd);
    _exit(EXIT_SUCCESS);
}

/* Counts the connection first: the child may report how many are open before the parent runs.
 *
 * Without other threads _Fork is enough: fork would have the child copy three pages more, to forget
 * those threads. */
HOT static pid_t fork_counted(struct server *server) {
    stats_add(&server->stats->open);
    pid_t pid = __libc_single_threaded ? _Fork() : fork();
    if (pid < 0)
        stats_subtract(&server->stats->open);
    return pid;
}

HOT static void start(const struct parent *parent, int fd) {
    struct server *server = parent->server;
    struct living *living = parent->living;
    bool has_room = living->count < server->options->max_connections;
    pid_t pid = has_room ? fork_counted(server) : -1;
    if (pid == 0)
        serve(server, fd);
    if (pid > 0) {
        living->pids[living->count++] = pid;
        close(fd);
    } else {
        listener_refuse(server, fd);
    }
}

/* Waits once. While clients come, the children that have ended are reaped with each: to be woken
 * for every one would cost two context switches. When no client comes, they are reaped as they end.
 */
HOT static void turn(const struct parent *parent) {
    enum { CLIENT, STOP, DEATHS, WAITS };
    struct living *living = parent->living;
    struct pollfd waits[WAITS] = {
        {.fd = parent->server->listener.drain_fd, .events = POLLIN},
        {.fd = stop_fd(), .events = POLLIN},
        {.fd = living->is_quiet ? parent->deaths.fd : -1, .events = POLLIN},
    };
    poll_or_pause(waits, WAITS, living->is_quiet || living->count == 0 ? -1 : QUIET_MS);
    living->is_quiet = waits[CLIENT].revents == 0;
    if (living->is_quiet)
        deaths_noted(&parent->deaths);
    reap(parent);
    int fd = living->is_quiet ? -EAGAIN : listener_accept(parent->server);
    if (fd >= 0)
        start(parent, fd);
}

/* Not inlined: its frame is the first of a page, see run. */
__attribute__((noinline)) HOT static void until_stopped(const struct parent *parent) {
    while (!stop_is_requested())
        turn(parent);
}

static void signal_all(const struct living *living, int signal_number) {
    for (unsigned i = 0; i < living->count; i++)
        kill(living->pids[i], signal_number);
}

static void wait_for_deaths(const struct parent *parent, int wait_ms) {
    struct pollfd waits = {.fd = parent->deaths.fd, .events = POLLIN};
    poll_or_pause(&waits, 1, wait_ms < 0 || wait_ms > QUIET_MS ? QUIET_MS : wait_ms);
    deaths_noted(&parent->deaths);
    reap(parent);
}

/* Serves the backlog, tells the children to stop, and kills those that do not stop in time. */
static void drain(const struct parent *parent) {
    int64_t left_ns, deadline_ns;
    for (int fd; (fd = listener_accept(parent->server)) >= 0;)
        start(parent, fd);
    deadline_ns = clock_monotonic_ns() + (stop_left_ms() + GRACE_MS) * (int64_t)NS_PER_MS;
    signal_all(parent->living, SIGTERM);
    while (parent->living->count > 0 && (left_ns = deadline_ns - clock_monotonic_ns()) > 0)
        wait_for_deaths(parent, (int)(left_ns / NS_PER_MS) + 1);
    signal_all(parent->living, SIGKILL);
    while (parent->living->count > 0)
        wait_for_deaths(parent, -1);
}

static int run(struct server *server) {
    /* Aligned, so that the frames of what is called begin a page of the stack: a child writes to
     * one of its pages then, and not to two. */
    alignas(STACK_PAGE) struct parent parent = {.server = server, .living = open_living(server)};
    if (parent.living == NULL)
        return -ENOMEM;
    int error = deaths_open(&parent.deaths);
    if (error == 0) {
        listener_set_nonblocking(&server->listener);
        until_stopped(&parent);
        drain(&parent);
        deaths_close(&parent.deaths);
    }
    munmap(parent.living, living_bytes(server));
    return error;
}

const struct design design_fork_per_client = {
    .name = "fork-per-client",
    .summary = "a new process for each connection",
    .keeps_nothing = true,
    .run = run,
};

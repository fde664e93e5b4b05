/* fork-per-client: a new process for each connection.
 *
 * The parent accepts and forks; the child serves its client to the end with blocking calls. A slow
 * client holds up nobody, and a crash of one child harms no other. Each connection costs a process:
 * creation and exit, page tables and page faults, some 200 us of CPU. */
#include "base/clock.h"
#include "server/design.h"
#include "server/processes.h"
#include "server/stop.h"
#include "workers/converse.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The living children. The handler of SIGCHLD removes them, and is blocked while others look. Not
 * in memory that children inherit: the parent writes there for each, and would copy a page each
 * time.
 */
static struct living {
    pid_t *pids;
    unsigned count;
    /* Open connections are counted here, as living children, and not by the children, which may die
     * at any point. */
    struct stats *stats;
} * living;

static size_t living_bytes(const struct server *server) {
    return sizeof *living + server->options->max_connections * sizeof *living->pids;
}

/* Returns 0 or -errno. */
static int open_living(const struct server *server) {
    size_t bytes = living_bytes(server);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -errno;
    madvise(memory, bytes, MADV_DONTFORK);
    living = memory;
    *living = (struct living){.pids = (pid_t *)(living + 1), .stats = server->stats};
    return 0;
}

static void remember(pid_t pid) {
    living->pids[living->count++] = pid;
}

static void forget(pid_t pid) {
    for (unsigned i = 0; i < living->count; i++)
        if (living->pids[i] == pid) {
            living->pids[i] = living->pids[--living->count];
            stats_subtract(&living->stats->open);
            return;
        }
}

static void handle_death(int signal_number) {
    (void)signal_number;
    int saved = errno;
    pid_t pid;
    struct rusage used;
    while (living->count > 0 && (pid = wait4(-1, NULL, WNOHANG, &used)) > 0) {
        stats_add_reaped(living->stats, &used);
        forget(pid);
    }
    if (errno != saved)
        errno = saved;
}

/* The signal mask as it was, and with SIGCHLD blocked. */
struct masks {
    sigset_t open, closed;
};

static struct masks prepare(void) {
    struct sigaction action = {.sa_handler = handle_death, .sa_flags = SA_NOCLDSTOP};
    struct masks masks;
    sigfillset(&action.sa_mask);
    sigaction(SIGCHLD, &action, NULL);
    sigprocmask(SIG_BLOCK, NULL, &masks.open);
    sigdelset(&masks.open, SIGCHLD);
    masks.closed = masks.open;
    sigaddset(&masks.closed, SIGCHLD);
    return masks;
}

/* In the child. SIGCHLD stays blocked: it has no children. */
static void serve(struct server *server, int fd) {
    if (stop_after_fork(-1) != 0)
        _exit(EXIT_FAILURE);
    listener_leave(&server->listener);
    converse_uncounted(server, fd);
    _exit(EXIT_SUCCESS);
}

/* Counts the connection first: the child may report how many are open before the parent runs. */
static pid_t fork_counted(void) {
    stats_add(&living->stats->open);
    pid_t pid = fork();
    if (pid < 0)
        stats_subtract(&living->stats->open);
    return pid;
}

static void start(struct server *server, int fd, const struct masks *masks) {
    sigprocmask(SIG_SETMASK, &masks->closed, NULL);
    bool has_room = living->count < server->options->max_connections;
    pid_t pid = has_room ? fork_counted() : -1;
    if (pid == 0)
        serve(server, fd);
    if (pid > 0)
        remember(pid);
    sigprocmask(SIG_SETMASK, &masks->open, NULL);
    if (pid > 0)
        close(fd);
    else
        listener_refuse(server, fd);
}

static void signal_all(int signal_number) {
    for (unsigned i = 0; i < living->count; i++)
        kill(living->pids[i], signal_number);
}

/* Tells the children to stop, and kills those that do not stop in time. */
static void drain(const struct masks *masks) {
    int64_t deadline_ns = clock_monotonic_ns() + (stop_left_ms() + GRACE_MS) * (int64_t)NS_PER_MS;
    int64_t left_ns;
    sigprocmask(SIG_SETMASK, &masks->closed, NULL);
    signal_all(SIGTERM);
    while (living->count > 0 && (left_ns = deadline_ns - clock_monotonic_ns()) > 0) {
        struct timespec timeout = {left_ns / NS_PER_S, left_ns % NS_PER_S};
        ppoll(NULL, 0, &timeout, &masks->open);
    }
    signal_all(SIGKILL);
    while (living->count > 0)
        sigsuspend(&masks->open);
    sigprocmask(SIG_SETMASK, &masks->open, NULL);
}

static int run(struct server *server) {
    int error = open_living(server);
    if (error != 0)
        return error;
    struct masks masks = prepare();
    int fd;
    while ((fd = listener_accept(server)) >= 0)
        start(server, fd, &masks);
    drain(&masks);
    munmap(living, living_bytes(server));
    return 0;
}

const struct design design_fork_per_client = {
    .name = "fork-per-client",
    .summary = "a new process for each connection",
    .keeps_nothing = true,
    .run = run,
};

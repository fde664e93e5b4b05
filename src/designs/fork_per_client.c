/* fork-per-client: a new process for each connection.
 *
 * The parent accepts and forks; the child serves its client with blocking calls to the end. A slow
 * client holds up nobody, and whatever a child does wrong is its own. Each connection costs a
 * process: its creation and its end, page tables and page faults, some 200 us of CPU. */
#include "base/clock.h"
#include "designs/converse.h"
#include "designs/design.h"
#include "server/processes.h"
#include "server/stop.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The living children, which the handler of SIGCHLD takes out: it is blocked while others look. */
static pid_t *children;
static volatile unsigned count;

/* Those that are there are as many as connections are open: counted here and not by the children,
 * of which one may die at any point. */
static struct stats *stats;

static void remember(pid_t pid) {
    children[count++] = pid;
    stats_add(&stats->open);
}

static void forget(pid_t pid) {
    for (unsigned i = 0; i < count; i++)
        if (children[i] == pid) {
            children[i] = children[--count];
            stats_subtract(&stats->open);
            return;
        }
}

static void handle_death(int signal_number) {
    (void)signal_number;
    int saved = errno;
    pid_t pid;
    struct rusage used;
    while ((pid = wait4(-1, NULL, WNOHANG, &used)) > 0) {
        stats_add_reaped(stats, &used);
        forget(pid);
    }
    errno = saved;
}

/* How the signal mask was, and with SIGCHLD blocked. */
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

static void serve(struct server own, int fd) {
    listener_close(&own.listener); /* the parent's: it shall not stay open by us */
    converse_uncounted(&own, fd);
    _exit(EXIT_SUCCESS);
}

static void start(struct server *server, int fd, const struct masks *masks) {
    sigprocmask(SIG_SETMASK, &masks->closed, NULL);
    pid_t pid = count < server->options->max_connections ? process_fork(-1, &masks->open) : -EAGAIN;
    if (pid == 0)
        serve(*server, fd);
    if (pid > 0)
        remember(pid);
    sigprocmask(SIG_SETMASK, &masks->open, NULL);
    if (pid > 0)
        close(fd);
    else
        listener_refuse(server, fd);
}

static void signal_all(int signal_number) {
    for (unsigned i = 0; i < count; i++)
        kill(children[i], signal_number);
}

/* Tells the children to stop, and kills those that do not in time. */
static void drain(const struct masks *masks) {
    int64_t deadline_ns = clock_monotonic_ns() + (stop_left_ms() + GRACE_MS) * (int64_t)NS_PER_MS;
    int64_t left_ns;
    sigprocmask(SIG_SETMASK, &masks->closed, NULL);
    signal_all(SIGTERM);
    while (count > 0 && (left_ns = deadline_ns - clock_monotonic_ns()) > 0) {
        struct timespec timeout = {left_ns / NS_PER_S, left_ns % NS_PER_S};
        ppoll(NULL, 0, &timeout, &masks->open);
    }
    signal_all(SIGKILL);
    while (count > 0)
        sigsuspend(&masks->open);
    sigprocmask(SIG_SETMASK, &masks->open, NULL);
}

static int run(struct server *server) {
    children = calloc(server->options->max_connections, sizeof *children);
    if (children == NULL)
        return -ENOMEM;
    stats = server->stats;
    struct masks masks = prepare();
    int fd;
    while ((fd = listener_accept(server)) >= 0)
        start(server, fd, &masks);
    drain(&masks);
    free(children);
    return 0;
}

const struct design design_fork_per_client = {
    .name = "fork-per-client",
    .summary = "a new process for each connection",
    .keeps_nothing = true,
    .run = run,
};

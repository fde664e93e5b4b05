/* A process for each connection, as the clients of the lab reports have it.
 *
 * Like engine_thread.c, with processes instead of threads: results come back through shared memory.
 * What a child recorded survives its death; its unfinished request is recorded as failed. Cost: a
 * copy of the page tables and an exit for each connection and round. */
#include "base/clock.h"
#include "engines/blocking.h"
#include "engines/engines.h"
#include "engines/start_line.h"
#include "load/stop.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NUDGE_MS = 100 };

struct shared {
    struct start_line line;
    int64_t end_ns;
};

static _Noreturn void client(const struct load *load, struct shared *shared, uint32_t connection,
                             pid_t parent) {
    struct worker *worker = &load->workers[connection];
    /* If the client is killed, its children must end too. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    if (start_line_wait(&shared->line)) {
        if (load->shape == SHAPE_BURST)
            blocking_burst(load, worker, connection);
        else
            blocking_closed(load, worker, connection, shared->end_ns);
    }
    _exit(0);
}

static void nudge(const pid_t *children, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (children[i] > 0)
            kill(children[i], SIGTERM);
}

/* The request that a dying child leaves unfinished: that of its round, or of a closed load the
 * current one. */
struct debt {
    int64_t start_ns;
    uint32_t round;
};

static void settle(struct load *load, uint32_t connection, int status, struct debt debt) {
    struct worker *worker = &load->workers[connection];
    bool ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    bool owes = load->shape == SHAPE_CLOSED || worker->samples.count <= debt.round;
    if (!ended_well && owes && !stop_requested())
        worker_failed(worker, connection, debt.start_ns, 0, OUTCOME_CLOSED,
                      "the process of this connection died");
}

/* Waits for the children; once the load must stop, interrupts those that wait for a server. SIGCHLD
 * is blocked so that it can be awaited with a timeout. */
static void reap(struct load *load, pid_t *children, uint32_t count, struct debt debt) {
    const struct timespec patience = {.tv_nsec = NUDGE_MS * NS_PER_MS};
    sigset_t child_ended;
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    for (uint32_t left = count; left > 0;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid < 0 && errno == ECHILD)
            break;
        if (pid <= 0) {
            if (sigtimedwait(&child_ended, NULL, &patience) < 0 && stop_requested())
                nudge(children, count);
            continue;
        }
        for (uint32_t i = 0; i < count; i++) {
            if (children[i] == pid) {
                children[i] = 0;
                left--;
                settle(load, i, status, debt);
                break;
            }
        }
    }
}

static int run_once(struct load *load, struct shared *shared, pid_t *children, uint32_t round) {
    pid_t self = getpid();
    uint32_t started = 0;
    int outcome = 0;
    atomic_store(&shared->line.state, 0);
    for (; started < load->connections && !stop_requested(); started++) {
        children[started] = fork();
        if (children[started] == 0)
            client(load, shared, started, self);
        if (children[started] < 0) {
            outcome = -errno;
            load->problem = "cannot start a process for each connection; ask for fewer with -c, "
                            "or use --engine epoll";
            break;
        }
    }
    int64_t start_ns = clock_monotonic_ns();
    shared->end_ns = start_ns + load->duration_ns;
    if (outcome == 0)
        start_line_open(&shared->line);
    else
        start_line_cancel(&shared->line);
    reap(load, children, started, (struct debt){start_ns, round});
    return outcome;
}

static int run(struct load *load) {
    sigset_t child_ended;
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_ended, NULL);

    load->problem = "no memory for the processes; ask for fewer with -c";
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return -ENOMEM;
    pid_t *children = calloc(load->connections, sizeof *children);
    uint32_t rounds = load->shape == SHAPE_BURST ? load->rounds : 1;
    int outcome = children != NULL ? 0 : -ENOMEM;
    for (uint32_t round = 0; round < rounds && outcome == 0 && !stop_requested(); round++)
        outcome = run_once(load, shared, children, round);
    munmap(shared, sizeof *shared);
    free(children);
    return outcome;
}

const struct engine engine_fork = {
    .name = "fork",
    .summary = "a process for each connection, blocking sockets",
    .worker_each = true,
    .descriptors_each = false,
    .run = run,
};

/* A process for each connection, like the clients of the published reports.
 *
 * Like engine_thread.c, with processes instead of threads: results come back through shared memory.
 * If a child dies, its samples survive, and its unfinished request is recorded as failed. Cost per
 * connection and round: a copy of the page tables and an exit. */
#include "base/clock.h"
#include "client/engines/blocking_connection.h"
#include "client/engines/engines.h"
#include "client/engines/start_signal.h"
#include "client/load/stop.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct shared {
    struct start_signal start;
    int64_t end_ns;
};

static _Noreturn void client(const struct load *load, struct shared *shared, uint32_t connection,
                             pid_t parent) {
    struct worker *worker = &load->workers[connection];
    /* If the client is killed, its children must end as well. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    if (start_signal_wait(&shared->start)) {
        if (load->shape == SHAPE_BURST)
            blocking_burst(load, worker, connection);
        else
            blocking_closed(load, worker, connection, shared->end_ns);
    }
    _exit(0);
}

static void interrupt(const pid_t *children, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (children[i] > 0)
            kill(children[i], SIGTERM);
}

/* The request that a dying child leaves unfinished: that of its round or, in a closed load, the
 * current one. */
struct unfinished {
    int64_t start_ns;
    uint32_t round;
};

static void record_death(struct load *load, uint32_t connection, int status,
                         struct unfinished unfinished) {
    struct worker *worker = &load->workers[connection];
    bool ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    bool has_unfinished = load->shape == SHAPE_CLOSED || worker->samples.count <= unfinished.round;
    if (!ended_well && has_unfinished && !stop_requested())
        worker_failed(worker, connection, unfinished.start_ns, 0, OUTCOME_CLOSED,
                      "the process of this connection died");
}

/* Waits for the children. Once the load must stop, interrupts those that still wait for the server.
 * SIGCHLD is blocked, so that it can be awaited with a timeout. */
static void reap(struct load *load, pid_t *children, uint32_t count, struct unfinished unfinished) {
    const struct timespec timeout = {.tv_nsec = STOP_POLL_MS * NS_PER_MS};
    sigset_t child_ended;
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    for (uint32_t left = count; left > 0;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid < 0 && errno == ECHILD)
            break;
        if (pid <= 0) {
            if (sigtimedwait(&child_ended, NULL, &timeout) < 0 && stop_requested())
                interrupt(children, count);
            continue;
        }
        for (uint32_t i = 0; i < count; i++) {
            if (children[i] == pid) {
                children[i] = 0;
                left--;
                record_death(load, i, status, unfinished);
                break;
            }
        }
    }
}

static int run_once(struct load *load, struct shared *shared, pid_t *children, uint32_t round) {
    pid_t self = getpid();
    uint32_t started = 0;
    int outcome = 0;
    atomic_store(&shared->start.state, 0);
    for (; started < load->connections && !stop_requested(); started++) {
        children[started] = fork();
        if (children[started] == 0)
            client(load, shared, started, self);
        if (children[started] < 0) {
            outcome = -errno;
            load->problem =
                "cannot start a process for each connection; use fewer (-c) or --engine "
                "epoll";
            break;
        }
    }
    int64_t start_ns = clock_monotonic_ns();
    shared->end_ns = start_ns + load->duration_ns;
    if (outcome == 0)
        start_signal_send(&shared->start);
    else
        start_signal_cancel(&shared->start);
    reap(load, children, started, (struct unfinished){start_ns, round});
    return outcome;
}

static int run(struct load *load) {
    sigset_t child_ended;
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_ended, NULL);

    load->problem = "not enough memory for the processes; use fewer (-c)";
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

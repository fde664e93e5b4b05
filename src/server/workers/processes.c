#include "server/workers/processes.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/limits.h"
#include "server/stop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ASK_AGAIN_MS = 100 }; /* when the call that tells of deaths, or reaps, has failed */

static void release(struct processes *processes) {
    free(processes->members);
    deaths_close(&processes->deaths);
}

int processes_open(struct processes *processes, struct server *server) {
    unsigned count = server->options->workers;
    *processes = (struct processes){.server = server, .count = count};
    int error = deaths_open(&processes->deaths);
    if (error != 0)
        return error;
    processes->members = calloc(count, sizeof processes->members[0]);
    error = processes->members != NULL ? output_shares_open(&server->shares, count) : -ENOMEM;
    if (error != 0)
        release(processes);
    return error;
}

pid_t processes_fork(struct processes *processes, unsigned worker, int waits_in,
                     struct server *own) {
    struct worker_process *member = &processes->members[worker];
    sigset_t all, before;
    member->started_ns = clock_monotonic_ns();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    int error = pid < 0 ? -errno : 0;
    if (pid == 0 && stop_after_fork(waits_in) != 0)
        _exit(EXIT_FAILURE);
    sigprocmask(SIG_SETMASK, pid == 0 ? &processes->deaths.inherited : &before, NULL);
    if (pid == 0) {
        close(processes->deaths.fd);
        *own = server_for_worker(processes->server, worker);
        own->listener.is_borrowed = true;
        ready_forget(own);
    } else if (pid > 0) {
        member->pid = pid;
        atomic_store(&processes->server->stats->workers[worker].pid, pid);
        processes->alive++;
    }
    return error != 0 ? error : pid;
}

/* Its connections were closed with it, and its replies are gone. */
static void vacate(struct processes *processes, pid_t pid) {
    for (unsigned i = 0; i < processes->count; i++)
        if (processes->members[i].pid == pid) {
            struct worker_stats *counts = &processes->server->stats->workers[i];
            atomic_store(&counts->pid, 0);
            atomic_store(&counts->open, 0);
            output_shares_forget(&processes->server->shares, processes->server->stats, pid);
            processes->members[i].pid = 0;
            processes->alive--;
        }
}

void processes_reap(struct processes *processes) {
    struct rusage used;
    pid_t pid;
    deaths_clear(&processes->deaths);
    while ((pid = wait4(-1, NULL, WNOHANG, &used)) > 0) {
        stats_add_reaped(processes->server->stats, &used);
        vacate(processes, pid);
    }
    processes->may_be_dead = pid < 0 && processes->alive > 0;
}

/* For poll: up, not down. */
static int to_ms(int64_t ns) {
    return ns <= 0 ? 0 : (int)((ns + NS_PER_MS - 1) / NS_PER_MS);
}

/* Nanoseconds until an empty slot may be filled; 0: now. */
static int64_t left_ns(const struct worker_process *member, int64_t now_ns) {
    int64_t due_ns = member->started_ns + REFILL_MS * (int64_t)NS_PER_MS;
    return member->started_ns == 0 || due_ns <= now_ns ? 0 : due_ns - now_ns;
}

int processes_vacancy(struct processes *processes) {
    if (processes->alive == processes->count)
        return -1;
    int64_t now_ns = clock_monotonic_ns();
    for (unsigned i = 0; i < processes->count; i++) {
        struct worker_process *member = &processes->members[i];
        if (member->pid == 0 && left_ns(member, now_ns) == 0) {
            member->started_ns = now_ns;
            return (int)i;
        }
    }
    return -1;
}

int processes_wait_ms(const struct processes *processes) {
    int64_t now_ns = clock_monotonic_ns();
    int64_t least_ns = processes->may_be_dead ? ASK_AGAIN_MS * (int64_t)NS_PER_MS : INT64_MAX;
    for (unsigned i = 0; i < processes->count; i++)
        if (processes->members[i].pid == 0 && left_ns(&processes->members[i], now_ns) < least_ns)
            least_ns = left_ns(&processes->members[i], now_ns);
    return least_ns == INT64_MAX ? -1 : to_ms(least_ns);
}

static void signal_all(const struct processes *processes, int signal_number) {
    for (unsigned i = 0; processes->alive > 0 && i < processes->count; i++)
        if (processes->members[i].pid != 0)
            kill(processes->members[i].pid, signal_number);
}

void processes_tell_stop(const struct processes *processes) {
    signal_all(processes, SIGTERM);
}

/* wait_ms at most; -1: until one has died, or not much longer than that. */
static void wait_for_deaths(struct processes *processes, int wait_ms) {
    struct pollfd waits = {.fd = processes->deaths.fd, .events = POLLIN};
    poll_or_back_off(&waits, 1, wait_ms < 0 || wait_ms > ASK_AGAIN_MS ? ASK_AGAIN_MS : wait_ms);
    processes_reap(processes);
}

void processes_close(struct processes *processes) {
    int left_ms = stop_is_requested() ? stop_left_ms() : DRAIN_LIMIT_S * 1000;
    int64_t deadline_ns = clock_monotonic_ns() + (left_ms + GRACE_MS) * (int64_t)NS_PER_MS;
    processes_tell_stop(processes);
    while (processes->alive > 0 && (left_ms = to_ms(deadline_ns - clock_monotonic_ns())) > 0)
        wait_for_deaths(processes, left_ms);
    signal_all(processes, SIGKILL);
    while (processes->alive > 0)
        wait_for_deaths(processes, -1);
    output_shares_close(&processes->server->shares);
    release(processes);
}

/* A pool whose workers all run the same function. */
struct pool {
    struct processes processes;
    void (*serve)(struct server *own, void *argument);
    void *argument;
};

/* Returns 0 or -errno. */
static int fill(struct pool *pool, unsigned worker) {
    struct server own;
    pid_t pid = processes_fork(&pool->processes, worker, pool->processes.server->listener.fd, &own);
    if (pid == 0) {
        pool->serve(&own, pool->argument);
        _exit(EXIT_SUCCESS);
    }
    return pid < 0 ? pid : 0;
}

static int start(struct pool *pool) {
    int error = 0;
    for (unsigned worker = 0; error == 0 && worker < pool->processes.count; worker++)
        error = fill(pool, worker);
    return error;
}

/* Fills the empty slots that are due; one that cannot be filled now is due again later. */
static void refill(struct pool *pool) {
    bool is_serving = !stop_is_requested();
    int worker;
    while ((worker = processes_vacancy(&pool->processes)) >= 0)
        if (fill(pool, (unsigned)worker) == 0 && is_serving)
            stats_add(&pool->processes.server->stats->replaced);
}

static void until_stopped(struct pool *pool) {
    struct pollfd waits[] = {{.fd = stop_fd(), .events = POLLIN},
                             {.fd = pool->processes.deaths.fd, .events = POLLIN}};
    while (!stop_is_requested()) {
        int ready = poll_or_back_off(waits, 2, processes_wait_ms(&pool->processes));
        if ((ready > 0 && waits[1].revents != 0) || pool->processes.may_be_dead)
            processes_reap(&pool->processes);
        refill(pool);
    }
}

static void drain(struct pool *pool) {
    struct listener *listener = &pool->processes.server->listener;
    listener_begin_draining(listener);
    processes_tell_stop(&pool->processes);
    for (int left_ms; (left_ms = stop_left_ms()) > 0;) {
        bool are_needed = listener_has_last_clients(listener);
        if (!are_needed && pool->processes.alive == 0)
            break;
        if (are_needed)
            refill(pool);
        else
            listener_end(listener);
        int refill_ms = are_needed ? processes_wait_ms(&pool->processes) : -1;
        wait_for_deaths(&pool->processes,
                        refill_ms >= 0 && refill_ms < left_ms ? refill_ms : left_ms);
    }
}

int processes_run(struct server *server, void (*serve)(struct server *own, void *argument),
                  void *argument) {
    struct pool pool = {.serve = serve, .argument = argument};
    int error = processes_open(&pool.processes, server);
    if (error != 0)
        return error;
    error = start(&pool);
    if (error == 0)
        error = ready_say(server);
    if (error == 0) {
        until_stopped(&pool);
        drain(&pool);
    }
    processes_close(&pool.processes);
    return error;
}

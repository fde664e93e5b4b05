/* Worker processes: a pool of children, each of which serves, and a parent that keeps it full.
 *
 * A worker that dies, however it dies, is replaced and counted (stats->replaced); the others never
 * notice. A place is filled no more than once in REFILL_MS: a worker that dies again and again
 * costs little. No worker outlives the parent (stop.h).
 *
 * A server that is told to stop tells the workers, which drain; those that are not done by then are
 * killed GRACE_MS after the drain limit. The signal may reach a worker before it reaches the parent
 * (a supervisor that signals all of a service at once): that worker believes that it alone shall
 * leave, and leaves those who wait to the others. So while some still wait, the parent refills
 * places even then. */
#pragma once
#include "server/server.h"

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

enum { REFILL_MS = 1000, GRACE_MS = 1000 };

struct worker_process {
    pid_t pid;          /* 0: the place is empty */
    int64_t started_ns; /* ... or was to be; CLOCK_MONOTONIC; 0: never */
};

struct processes {
    struct server *server;
    struct worker_process *members;
    unsigned count, alive;
    int deaths_fd;      /* readable when a worker has died */
    sigset_t inherited; /* the signal mask that a child gets */
};

/* The usual pool: starts --workers workers, each of which runs `serve` with its own copy of the
 * server until that returns, and keeps the pool full until the server is told to stop. Returns 0 or
 * -errno, and then no worker is left (-EAGAIN: the system allows no more processes). */
int processes_run(struct server *server, void (*serve)(struct server *own, void *argument),
                  void *argument);

/* The parts of it, for a design that has more to do in the parent. */

/* All places empty. Returns 0 or -errno. */
int processes_open(struct processes *processes, struct server *server);

/* Fills a place. waits_in: the descriptor in which the child will block, for stop_after_fork. As
 * fork: returns 0 in the child, with *own as its own copy of the server, and the child then ends
 * with _exit; else the pid or -errno. */
pid_t processes_fork(struct processes *processes, unsigned worker, int waits_in,
                     struct server *own);

/* Takes note of workers that have died. Call it when deaths_fd is readable. */
void processes_reap(struct processes *processes);

/* An empty place that is to be filled now; -1: none. Whether that succeeds or not, it is not named
 * again before REFILL_MS are over. */
int processes_vacancy(struct processes *processes);

/* For poll: milliseconds until there is a vacancy, 0 if there is one, -1 if no place is empty. */
int processes_wait_ms(const struct processes *processes);

/* Tells all to stop: SIGTERM. */
void processes_tell_stop(const struct processes *processes);

/* Tells all to stop and waits until they have ended; kills those that have not in time. Frees what
 * processes_open took. */
void processes_close(struct processes *processes);

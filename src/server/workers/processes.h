/* Worker processes: a pool of children, each of which serves, and a parent that keeps it full.
 *
 * A worker that dies is replaced and counted (stats->replaced); the others do not notice. A slot is
 * filled at most once in REFILL_MS, so a worker that keeps dying costs little. No worker outlives
 * the parent (stop.h).
 *
 * On a stop the parent tells the workers, which drain; those still running GRACE_MS after the drain
 * limit are killed. The signal may reach a worker before the parent (a supervisor may signal the
 * whole service at once): that worker assumes that it alone must leave, and leaves waiting clients
 * to the others. So while clients wait, the parent refills slots even during the drain. */
#pragma once
#include "server/server.h"
#include "server/workers/deaths.h"

#include <stdint.h>
#include <sys/types.h>

enum { REFILL_MS = 1000 };

struct worker_process {
    pid_t pid;          /* 0: the slot is empty */
    int64_t started_ns; /* ... or was tried; CLOCK_MONOTONIC; 0: never */
};

struct processes {
    struct server *server;
    struct worker_process *members;
    unsigned count, alive;
    bool may_be_dead; /* the system would not say who has died: it is asked again soon */
    struct deaths deaths;
};

/* The usual pool: starts --workers workers, each of which runs `serve` with its own copy of the
 * server, and keeps the pool full until the server is told to stop. Returns 0 or -errno, with no
 * worker left (-EAGAIN: the system allows no more processes). */
int processes_run(struct server *server, void (*serve)(struct server *own, void *argument),
                  void *argument);

/* The parts of it, for a design whose parent has more to do. */

/* All slots are empty. Returns 0 or -errno. */
int processes_open(struct processes *processes, struct server *server);

/* Fills a slot. waits_in: the descriptor in which the child will block, for stop_after_fork. Like
 * fork: returns 0 in the child, with *own as its copy of the server, and the child must end with
 * _exit; else the pid or -errno. */
pid_t processes_fork(struct processes *processes, unsigned worker, int waits_in,
                     struct server *own);

/* Reaps workers that have died. Call it when deaths.fd is readable, and while may_be_dead. */
void processes_reap(struct processes *processes);

/* An empty slot to fill now; -1: none. Whether that succeeds or not, it is not returned again
 * before REFILL_MS have passed. */
int processes_vacancy(struct processes *processes);

/* For poll: milliseconds until there is a vacancy, 0 if there is one, -1 if no slot is empty; or
 * until processes_reap should be called again (may_be_dead). */
int processes_wait_ms(const struct processes *processes);

/* Sends SIGTERM to all. */
void processes_tell_stop(const struct processes *processes);

/* Tells all to stop and waits for them; kills those that take too long. Frees what processes_open
 * allocated. */
void processes_close(struct processes *processes);

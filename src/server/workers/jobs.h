/* Requests on their way from an event loop to a pool of threads and back.
 *
 * There are two queues: workers wait for submitted jobs on a condition variable, the loop waits for
 * answered ones on an eventfd, which is written only when that queue was empty. One worker is woken
 * at a time, and wakes the next if there is more: workers that are busy take most jobs. Jobs are
 * reused, including the memory of their replies. */
#pragma once
#include "server/server.h"
#include "server/threads.h"

#include <pthread.h>
#include <stdbool.h>

struct connection;

struct job {
    struct job *next;
    struct connection *connection; /* used only by the loop */
    bool is_first;                 /* request of its connection */
    struct request request;
    struct server *server; /* of the worker that answered */
    enum status status;
    struct text body;
};

struct job_queue {
    struct job *first, *last;
};

struct jobs {
    pthread_mutex_t lock; /* guards what follows, up to is_closing */
    pthread_cond_t has_work;
    struct job_queue submitted, answered;
    unsigned idle;  /* workers that wait */
    bool is_waking; /* one of them was woken, and does not run yet */
    bool is_closing;
    int answered_fd; /* readable while `answered` is not empty */

    struct job *spare; /* used only by the loop */
    unsigned spare_count;
    struct threads threads;
    struct server *servers; /* one per worker */
};

/* Starts the workers. `jobs` must not move afterwards. Returns 0 or -errno. */
int jobs_open(struct jobs *jobs, const struct server *server);

/* Waits for jobs that workers have begun; discards the others. */
void jobs_close(struct jobs *jobs);

/* For the loop: get a job to fill in (NULL: memory ran out), submit it to the workers, take all
 * answered jobs (linked by `next`, in the order they were answered), and release each. */
struct job *jobs_new(struct jobs *jobs);
void jobs_submit(struct jobs *jobs, struct job *job);
struct job *jobs_take_answered(struct jobs *jobs);
void jobs_release(struct jobs *jobs, struct job *job);

/* Requests on their way from an event loop to a pool of threads and back.
 *
 * Two queues: workers wait for the first on a condition variable, the loop for the second on an
 * eventfd, which is written only when that queue was empty. Jobs are reused, with the memory of
 * their replies. */
#pragma once
#include "server/server.h"
#include "server/threads.h"

#include <pthread.h>
#include <stdbool.h>

struct polled;

struct job {
    struct job *next;
    struct polled *connection; /* the loop's: workers do not touch it */
    bool is_first;             /* of its connection */
    struct request request;
    struct server *server; /* of the worker that answered it */
    enum status status;
    struct text body;
};

struct job_queue {
    struct job *first, *last;
};

struct jobs {
    pthread_mutex_t lock; /* guards both queues and is_over */
    pthread_cond_t has_work;
    struct job_queue asked, answered;
    bool is_over;
    int answered_fd; /* readable while `answered` is not empty */

    struct job *spare; /* the loop's alone */
    unsigned spare_count;
    struct threads threads;
    struct server *servers; /* of each worker */
};

/* Starts the workers. `jobs` must stay where it is. Returns 0 or -errno. */
int jobs_open(struct jobs *jobs, const struct server *server);

/* Waits for jobs that workers have begun; drops the others. */
void jobs_close(struct jobs *jobs);

/* For the loop: a job to fill in (NULL: no memory), handing it to the workers, taking all answered
 * ones (a list by `next`, in the order of the answers), and giving one back. */
struct job *jobs_new(struct jobs *jobs);
void jobs_ask(struct jobs *jobs, struct job *job);
struct job *jobs_take_answered(struct jobs *jobs);
void jobs_release(struct jobs *jobs, struct job *job);

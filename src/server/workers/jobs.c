#include "server/workers/jobs.h"

#include "base/backoff.h"
#include "base/limits.h"
#include "server/connection/answer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { SPARE_JOBS = 256 };

/* Returns whether the queue was empty. */
static bool append(struct job_queue *queue, struct job *job) {
    bool was_empty = queue->first == NULL;
    job->next = NULL;
    if (was_empty)
        queue->first = job;
    else
        queue->last->next = job;
    queue->last = job;
    return was_empty;
}

/* With the lock held: releases it, and wakes a worker if there is work for one more. */
static void unlock_and_wake(struct jobs *jobs) {
    bool wakes = jobs->submitted.first != NULL && jobs->idle > 0 && !jobs->is_waking;
    jobs->is_waking |= wakes;
    pthread_mutex_unlock(&jobs->lock);
    if (wakes)
        pthread_cond_signal(&jobs->has_work);
}

/* With the lock held, which it releases. NULL: the pool is closing. */
static struct job *wait_for_work(struct jobs *jobs) {
    while (jobs->submitted.first == NULL && !jobs->is_closing) {
        jobs->idle++;
        pthread_cond_wait(&jobs->has_work, &jobs->lock);
        jobs->idle--;
        jobs->is_waking = false;
    }
    struct job *job = jobs->is_closing ? NULL : jobs->submitted.first;
    if (job != NULL)
        jobs->submitted.first = job->next;
    unlock_and_wake(jobs);
    return job;
}

/* Retries until it succeeds: otherwise the answered clients would wait for ever. */
static void wake_loop(const struct jobs *jobs) {
    const uint64_t one = 1;
    while (write(jobs->answered_fd, &one, sizeof one) < 0)
        back_off();
}

static void work(void *argument, unsigned worker) {
    struct jobs *jobs = argument;
    struct job *job;
    pthread_mutex_lock(&jobs->lock);
    while ((job = wait_for_work(jobs)) != NULL) {
        job->server = &jobs->servers[worker];
        job->status = answer_body(job->server, &job->request, &job->body);
        if (job->is_first)
            stats_add(&job->server->counts->connections);
        pthread_mutex_lock(&jobs->lock);
        bool was_empty = append(&jobs->answered, job);
        pthread_mutex_unlock(&jobs->lock);
        if (was_empty) /* after unlocking, because the loop locks at once */
            wake_loop(jobs);
        pthread_mutex_lock(&jobs->lock);
    }
}

static void free_list(struct job *job) {
    for (struct job *next; job != NULL; job = next) {
        next = job->next;
        text_release(&job->body);
        free(job);
    }
}

static void release_all(struct jobs *jobs) {
    free_list(jobs->spare);
    free_list(jobs->submitted.first);
    free_list(jobs->answered.first);
    free(jobs->servers);
    if (jobs->answered_fd >= 0)
        close(jobs->answered_fd);
    pthread_cond_destroy(&jobs->has_work);
    pthread_mutex_destroy(&jobs->lock);
}

int jobs_open(struct jobs *jobs, const struct server *server) {
    *jobs = (struct jobs){.answered_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    pthread_mutex_init(&jobs->lock, NULL);
    pthread_cond_init(&jobs->has_work, NULL);
    jobs->servers = servers_for_workers(server);
    int error = jobs->answered_fd < 0 ? -errno : jobs->servers == NULL ? -ENOMEM : 0;
    if (error == 0)
        error = threads_start(&jobs->threads, server->options->workers, work, jobs);
    if (error != 0)
        release_all(jobs);
    return error;
}

void jobs_close(struct jobs *jobs) {
    pthread_mutex_lock(&jobs->lock);
    jobs->is_closing = true;
    pthread_cond_broadcast(&jobs->has_work);
    pthread_mutex_unlock(&jobs->lock);
    threads_join(&jobs->threads);
    release_all(jobs);
}

struct job *jobs_new(struct jobs *jobs) {
    struct job *job = jobs->spare;
    if (job == NULL) {
        job = calloc(1, sizeof *job);
        if (job != NULL)
            job->body = text_growing(REPLY_LIMIT);
        return job;
    }
    jobs->spare = job->next;
    jobs->spare_count--;
    job->body.length = 0;
    return job;
}

void jobs_submit(struct jobs *jobs, struct job *job) {
    pthread_mutex_lock(&jobs->lock);
    append(&jobs->submitted, job);
    unlock_and_wake(jobs);
}

struct job *jobs_take_answered(struct jobs *jobs) {
    uint64_t ignored;
    (void)!read(jobs->answered_fd, &ignored, sizeof ignored);
    pthread_mutex_lock(&jobs->lock);
    struct job *answered = jobs->answered.first;
    jobs->answered.first = NULL;
    pthread_mutex_unlock(&jobs->lock);
    return answered;
}

void jobs_release(struct jobs *jobs, struct job *job) {
    if (jobs->spare_count < SPARE_JOBS && !job->body.overflow) {
        job->next = jobs->spare;
        jobs->spare = job;
        jobs->spare_count++;
    } else {
        job->next = NULL;
        free_list(job);
    }
}

#include "workers/jobs.h"

#include "base/limits.h"
#include "base/pause.h"
#include "server/answer.h"

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

/* With the lock held. NULL: it is over. */
static struct job *wait_for_work(struct jobs *jobs) {
    while (jobs->asked.first == NULL && !jobs->is_over)
        pthread_cond_wait(&jobs->has_work, &jobs->lock);
    if (jobs->is_over)
        return NULL;
    struct job *job = jobs->asked.first;
    jobs->asked.first = job->next;
    return job;
}

/* Until the loop is told: it would not ask of itself, and who has been answered would wait for
 * ever. */
static void tell(const struct jobs *jobs) {
    const uint64_t one = 1;
    while (write(jobs->answered_fd, &one, sizeof one) < 0)
        pause_a_moment();
}

static void work(void *argument, unsigned worker) {
    struct jobs *jobs = argument;
    struct job *job;
    pthread_mutex_lock(&jobs->lock);
    while ((job = wait_for_work(jobs)) != NULL) {
        pthread_mutex_unlock(&jobs->lock);
        job->server = &jobs->servers[worker];
        job->status = answer_body(job->server, &job->request, &job->body);
        if (job->is_first)
            stats_add(&job->server->counts->connections);
        pthread_mutex_lock(&jobs->lock);
        bool was_empty = append(&jobs->answered, job);
        pthread_mutex_unlock(&jobs->lock);
        if (was_empty) /* without the lock, which the loop asks for at once */
            tell(jobs);
        pthread_mutex_lock(&jobs->lock);
    }
    pthread_mutex_unlock(&jobs->lock);
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
    free_list(jobs->asked.first);
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
    jobs->is_over = true;
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

void jobs_ask(struct jobs *jobs, struct job *job) {
    pthread_mutex_lock(&jobs->lock);
    append(&jobs->asked, job);
    pthread_mutex_unlock(&jobs->lock);
    pthread_cond_signal(&jobs->has_work);
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

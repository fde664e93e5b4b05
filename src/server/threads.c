#include "server/threads.h"

#include <errno.h>
#include <stdlib.h>

struct thread {
    struct threads *threads;
    pthread_t id;
};

static void handle_wake(int signal_number) {
    (void)signal_number;
}

void threads_attributes(pthread_attr_t *attributes) {
    sigset_t all_but_wake;
    sigfillset(&all_but_wake);
    sigdelset(&all_but_wake, WAKE_SIGNAL);
    pthread_attr_init(attributes);
    pthread_attr_setstacksize(attributes, THREAD_STACK_BYTES);
    pthread_attr_setsigmask_np(attributes, &all_but_wake);
}

static void *begin(void *argument) {
    const struct thread *member = argument;
    struct threads *threads = member->threads;
    pthread_mutex_lock(&threads->lock);
    bool is_given_up = threads->is_given_up;
    pthread_mutex_unlock(&threads->lock);
    if (!is_given_up)
        threads->function(threads->argument, (unsigned)(member - threads->members));
    pthread_mutex_lock(&threads->lock);
    if (++threads->ended == threads->count)
        pthread_cond_signal(&threads->have_ended);
    pthread_mutex_unlock(&threads->lock);
    return NULL;
}

/* Returns 0 or -errno; `count` says how many were started. */
static int create(struct threads *threads, unsigned wanted) {
    pthread_attr_t attributes;
    int error = 0;
    threads_attributes(&attributes);
    while (error == 0 && threads->count < wanted) {
        struct thread *member = &threads->members[threads->count];
        member->threads = threads;
        error = pthread_create(&member->id, &attributes, begin, member);
        if (error == 0)
            threads->count++;
    }
    pthread_attr_destroy(&attributes);
    return -error;
}

int threads_start(struct threads *threads, unsigned count, thread_function *function,
                  void *argument) {
    /* No SA_RESTART: the interrupted call must return. */
    struct sigaction action = {.sa_handler = handle_wake};
    sigaction(WAKE_SIGNAL, &action, NULL);
    *threads = (struct threads){.function = function, .argument = argument};
    threads->members = calloc(count, sizeof threads->members[0]);
    if (threads->members == NULL)
        return -ENOMEM;
    pthread_mutex_init(&threads->lock, NULL);
    pthread_cond_init(&threads->have_ended, NULL);
    pthread_mutex_lock(&threads->lock);
    int error = create(threads, count);
    threads->is_given_up = error != 0;
    pthread_mutex_unlock(&threads->lock);
    if (error != 0)
        threads_join(threads);
    return error;
}

void threads_wake(const struct threads *threads) {
    for (unsigned i = 0; i < threads->count; i++)
        pthread_kill(threads->members[i].id, WAKE_SIGNAL);
}

bool threads_end_by(struct threads *threads, const struct timespec *end) {
    int error = 0;
    pthread_mutex_lock(&threads->lock);
    while (threads->ended < threads->count && error != ETIMEDOUT)
        error = pthread_cond_clockwait(&threads->have_ended, &threads->lock, CLOCK_MONOTONIC, end);
    bool have_ended = threads->ended == threads->count;
    pthread_mutex_unlock(&threads->lock);
    return have_ended;
}

void threads_join(struct threads *threads) {
    for (unsigned i = 0; i < threads->count; i++)
        pthread_join(threads->members[i].id, NULL);
    free(threads->members);
    pthread_mutex_destroy(&threads->lock);
    pthread_cond_destroy(&threads->have_ended);
    *threads = (struct threads){.count = 0};
}

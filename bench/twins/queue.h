/* A queue of descriptors between threads. Each is queued at most once, so it cannot overflow. */
#pragma once
#include "twin.h"

#include <pthread.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t has_some;
    bool is_filled;
    int first, last;
    int next[FD_SIZE]; /* -1: none */
};

#define QUEUE_INITIALIZER                                                                          \
    { .lock = PTHREAD_MUTEX_INITIALIZER, .has_some = PTHREAD_COND_INITIALIZER }

/* Returns whether it was empty. */
static inline bool queue_add(struct queue *queue, int fd) {
    pthread_mutex_lock(&queue->lock);
    bool was_empty = !queue->is_filled;
    queue->next[fd] = -1;
    if (was_empty)
        queue->first = fd;
    else
        queue->next[queue->last] = fd;
    queue->last = fd;
    queue->is_filled = true;
    pthread_mutex_unlock(&queue->lock);
    return was_empty;
}

/* Waits until there is one. */
static inline int queue_take(struct queue *queue) {
    pthread_mutex_lock(&queue->lock);
    while (!queue->is_filled)
        pthread_cond_wait(&queue->has_some, &queue->lock);
    int fd = queue->first;
    queue->first = queue->next[fd];
    queue->is_filled = fd != queue->last;
    pthread_mutex_unlock(&queue->lock);
    return fd;
}

/* Takes all, linked by `next`; -1 if there is none. */
static inline int queue_take_all(struct queue *queue) {
    pthread_mutex_lock(&queue->lock);
    int first = queue->is_filled ? queue->first : -1;
    queue->is_filled = false;
    pthread_mutex_unlock(&queue->lock);
    return first;
}

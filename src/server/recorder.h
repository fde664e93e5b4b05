/* The recorder: a thread that reads all processes every second, so that recent CPU use is known
 * when the first request arrives.
 *
 * It runs in the first process of every design; forked workers see its records in shared memory. It
 * holds no lock that a fork would copy. */
#pragma once
#include "service/service.h"

#include <pthread.h>
#include <stdbool.h>

enum { RECORD_PERIOD_MS = 1000 };

struct recorder {
    struct service *service;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows; never used in a forked process */
    pthread_cond_t changed;
    bool is_stopping;
};

/* Takes the first reading at once. The service must have been opened with `records`. The thread
 * blocks all signals. Returns 0 or -errno. */
int recorder_start(struct recorder *recorder, struct service *service);

/* Stops it; waits for a reading in progress. */
void recorder_stop(struct recorder *recorder);

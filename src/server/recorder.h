/* The recorder: a thread that takes a reading of all processes every second, so that the server
 * knows who used the CPU recently before anybody asks.
 *
 * It belongs to the first process, and runs beside every design; forked workers see what it
 * records, for that lies in memory they share. It holds no lock that a fork would copy. */
#pragma once
#include "service/service.h"

#include <pthread.h>
#include <stdbool.h>

enum { RECORD_PERIOD_MS = 1000 };

struct recorder {
    struct service *service;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows; nobody forks with it who uses it later */
    pthread_cond_t changed;
    bool is_stopping;
};

/* Takes the first reading at once. The service must have been opened for it (service_options). No
 * signal reaches the thread. Returns 0 or -errno. */
int recorder_start(struct recorder *recorder, struct service *service);

/* Ends a pause at once, and waits for a reading that is under way. */
void recorder_stop(struct recorder *recorder);

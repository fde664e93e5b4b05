#include "server/recorder.h"

#include "base/clock.h"
#include "server/threads.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

/* Returns whether a stop was requested. */
static bool pause_until(struct recorder *recorder, int64_t moment_ns) {
    const struct timespec end = {.tv_sec = moment_ns / NS_PER_S, .tv_nsec = moment_ns % NS_PER_S};
    int error = 0;
    pthread_mutex_lock(&recorder->lock);
    while (!recorder->is_stopping && error != ETIMEDOUT)
        error = pthread_cond_clockwait(&recorder->changed, &recorder->lock, CLOCK_MONOTONIC, &end);
    bool is_stopping = recorder->is_stopping;
    pthread_mutex_unlock(&recorder->lock);
    return is_stopping;
}

/* On a fixed schedule, so that a slow reading does not delay later ones. Missed readings (the
 * machine slept or was busy) are skipped; a failed one leaves a gap. */
static void *record(void *argument) {
    struct recorder *recorder = argument;
    int64_t due_ns = clock_monotonic_ns(), now_ns;
    do {
        service_record(recorder->service);
        now_ns = clock_monotonic_ns();
        int64_t period_ns = RECORD_PERIOD_MS * (int64_t)NS_PER_MS;
        due_ns += ((now_ns - due_ns) / period_ns + 1) * period_ns;
    } while (!pause_until(recorder, due_ns));
    return NULL;
}

int recorder_start(struct recorder *recorder, struct service *service) {
    pthread_attr_t attributes;
    sigset_t all;
    *recorder = (struct recorder){.service = service};
    pthread_mutex_init(&recorder->lock, NULL);
    pthread_cond_init(&recorder->changed, NULL);
    threads_attributes(&attributes);
    sigfillset(&all);
    pthread_attr_setsigmask_np(&attributes, &all);
    int error = pthread_create(&recorder->thread, &attributes, record, recorder);
    pthread_attr_destroy(&attributes);
    return -error;
}

void recorder_stop(struct recorder *recorder) {
    pthread_mutex_lock(&recorder->lock);
    recorder->is_stopping = true;
    pthread_cond_signal(&recorder->changed);
    pthread_mutex_unlock(&recorder->lock);
    pthread_join(recorder->thread, NULL);
    pthread_cond_destroy(&recorder->changed);
    pthread_mutex_destroy(&recorder->lock);
}

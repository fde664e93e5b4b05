/* A signal for which threads or processes wait, so that all start at once.
 *
 * A futex in shared memory: sending the signal wakes all that wait. Unlike at a barrier, it does
 * not matter how many wait, so a worker that dies early does not block the others. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct start_signal {
    _Atomic uint32_t state; /* 0: wait */
};

/* Waits. Returns false if the load was cancelled or must stop. */
bool start_signal_wait(struct start_signal *start);

void start_signal_send(struct start_signal *start);

/* Wakes all that wait; start_signal_wait returns false. */
void start_signal_cancel(struct start_signal *start);

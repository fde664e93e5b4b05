/* How many threads are still at work; one of them waits until none is. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct countdown {
    _Atomic uint32_t left;
};

/* One thread less. The last one wakes the thread that waits. */
void countdown_leave(struct countdown *countdown);

/* Waits at most timeout_ms. Returns whether none is left. */
bool countdown_wait(struct countdown *countdown, uint32_t timeout_ms);

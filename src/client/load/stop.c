#include "client/load/stop.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

/* Atomic, not sig_atomic_t: one thread gets the signal, and all threads read the flag. */
static atomic_bool stopped;
static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a signal handler must not take a lock");

static void stop(int signal) {
    (void)signal;
    atomic_store_explicit(&stopped, true, memory_order_relaxed);
}

void stop_install(void) {
    struct sigaction action = {.sa_handler = stop}; /* no SA_RESTART: calls must be interrupted */
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool stop_requested(void) {
    return atomic_load_explicit(&stopped, memory_order_relaxed);
}

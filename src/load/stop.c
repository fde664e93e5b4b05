#include "load/stop.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t stopped;

static void stop(int signal) {
    (void)signal;
    stopped = 1;
}

void stop_install(void) {
    struct sigaction action = {.sa_handler = stop}; /* no SA_RESTART: calls are to be interrupted */
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool stop_requested(void) {
    return stopped != 0;
}

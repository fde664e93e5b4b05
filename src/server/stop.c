#include "server/stop.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* All that a signal handler can reach. */
static volatile sig_atomic_t requested;
static volatile sig_atomic_t connection = -1;
static int listener, event;

static void handle(int signal_number) {
    (void)signal_number;
    int saved = errno;
    const uint64_t one = 1;
    requested = 1;
    dup2(event, listener);
    (void)!write(event, &one, sizeof one);
    if (connection >= 0)
        shutdown(connection, SHUT_RD);
    errno = saved;
}

int stop_install(int listener_fd) {
    listener = listener_fd;
    event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event < 0)
        return -errno;
    /* No SA_RESTART: blocking calls shall return. */
    struct sigaction action = {.sa_handler = handle};
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGTERM);
    sigaddset(&action.sa_mask, SIGINT);
    if (sigaction(SIGTERM, &action, NULL) != 0)
        return -errno;
    /* Whoever types Ctrl-C again will not wait; a supervisor may well repeat SIGTERM. */
    action.sa_flags = (int)SA_RESETHAND;
    if (sigaction(SIGINT, &action, NULL) != 0)
        return -errno;
    return 0;
}

bool stop_is_requested(void) {
    return requested != 0;
}

int stop_fd(void) {
    return event;
}

void stop_interrupts(int connection_fd) {
    connection = connection_fd;
    /* The signal may have come just before: then nobody else would tell this connection. */
    if (requested != 0 && connection_fd >= 0)
        shutdown(connection_fd, SHUT_RD);
}

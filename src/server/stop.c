#include "server/stop.h"

#include "base/clock.h"
#include "base/limits.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* All that a signal handler can reach. */
static volatile sig_atomic_t requested, expired;
static volatile sig_atomic_t connection = -1;
static int listener, event;
static _Atomic int64_t deadline_ns;

static void handle_stop(int signal_number) {
    (void)signal_number;
    int saved = errno;
    const uint64_t one = 1;
    if (requested == 0) {
        atomic_store(&deadline_ns, clock_monotonic_ns() + DRAIN_LIMIT_S * INT64_C(1000000000));
        alarm(DRAIN_LIMIT_S);
    }
    requested = 1;
    dup2(event, listener);
    (void)!write(event, &one, sizeof one);
    if (connection >= 0)
        shutdown(connection, SHUT_RD);
    errno = saved;
}

static void handle_alarm(int signal_number) {
    (void)signal_number;
    int saved = errno;
    expired = 1;
    if (connection >= 0)
        shutdown(connection, SHUT_RDWR);
    errno = saved;
}

/* No SA_RESTART: blocking calls shall return. One handler does not interrupt another. */
static int install(int signal_number, void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigfillset(&action.sa_mask);
    return sigaction(signal_number, &action, NULL) == 0 ? 0 : -errno;
}

int stop_install(int listener_fd) {
    listener = listener_fd;
    event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event < 0)
        return -errno;
    int error = install(SIGALRM, handle_alarm, 0);
    if (error == 0)
        error = install(SIGTERM, handle_stop, 0);
    /* Whoever types Ctrl-C again will not wait; a supervisor may well repeat SIGTERM. */
    if (error == 0)
        error = install(SIGINT, handle_stop, (int)SA_RESETHAND);
    return error;
}

bool stop_is_requested(void) {
    return requested != 0;
}

int stop_left_ms(void) {
    if (requested == 0)
        return -1;
    int64_t left_ns = atomic_load(&deadline_ns) - clock_monotonic_ns();
    return left_ns > 0 ? (int)(left_ns / NS_PER_MS) + 1 : 0;
}

int stop_fd(void) {
    return event;
}

void stop_interrupts(int connection_fd) {
    connection = connection_fd;
    /* The signal may have come just before: then nobody else would tell this connection. */
    if (requested != 0 && connection_fd >= 0)
        shutdown(connection_fd, expired != 0 ? SHUT_RDWR : SHUT_RD);
}

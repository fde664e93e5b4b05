#include "server/stop.h"

#include "base/clock.h"
#include "base/hot.h"
#include "base/limits.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* The state of the signal handlers. Globals, because a handler gets no argument. */
static _Atomic int requested, expired; /* atomic: other threads ask for them */
static _Atomic int64_t deadline_ns;
static volatile pid_t first, owner; /* the process that forks the others; whose the next two are */
static volatile sig_atomic_t listener, event;
/* Of the thread that handles the signals. A process that was just forked writes here, and nowhere
 * else in this file: the C library has already had it copy the page. */
static _Thread_local volatile sig_atomic_t connection = -1;

/* Rounded up. */
static int left_ms(int64_t until_ns) {
    int64_t left_ns = until_ns - clock_monotonic_ns();
    return left_ns > 0 ? (int)(left_ns / NS_PER_MS) + 1 : 0;
}

static int64_t hearing_end_ns(void) {
    return atomic_load(&deadline_ns) - (DRAIN_LIMIT_S - HEARING_S) * (int64_t)NS_PER_S;
}

/* For the end of the hearing, then for that of the drain. */
static void set_alarm(void) {
    int hearing_ms = left_ms(hearing_end_ns());
    int wait_ms = hearing_ms > 0 ? hearing_ms : left_ms(atomic_load(&deadline_ns));
    struct itimerval timer = {.it_value = {wait_ms / 1000, wait_ms % 1000 * 1000 + 1}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* Tried again if it fails: nobody else does it, and the signal ends the wait of one thread only. */
static void tell_waits(void) {
    enum { TRIES = 10 };
    const uint64_t one = 1;
    for (int i = 0; i < TRIES && dup2(event, listener) < 0; i++)
        continue;
    for (int i = 0; i < TRIES && write(event, &one, sizeof one) < 0; i++)
        continue;
}

static void handle_stop(int signal_number) {
    int saved = errno;
    const pid_t self = getpid();
    const bool is_first = self == first;
    if (signal_number == SIGINT && !is_first)
        return; /* the parent got it too and decides */
    /* A second Ctrl-C means: do not wait. A supervisor may well repeat SIGTERM. */
    if (signal_number == SIGINT)
        signal(SIGINT, SIG_DFL);
    if (requested != 0 && !is_first && getppid() != first)
        _exit(EXIT_FAILURE);
    if (requested == 0) {
        atomic_store(&deadline_ns, clock_monotonic_ns() + DRAIN_LIMIT_S * (int64_t)NS_PER_S);
        set_alarm();
    }
    requested = 1;
    /* Otherwise these are the parent's: of a process that waits for no descriptor, or that has just
     * been forked, where stop_after_fork does the rest. */
    if (self == owner)
        tell_waits();
    errno = saved;
}

static void handle_alarm(int signal_number) {
    (void)signal_number;
    int saved = errno;
    expired = stop_is_over();
    if (connection >= 0)
        shutdown(connection, expired != 0 ? SHUT_RDWR : SHUT_RD);
    if (expired == 0)
        set_alarm();
    errno = saved;
}

/* No SA_RESTART: blocking calls must return. Handlers do not interrupt each other. */
static int install(int signal_number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler};
    sigfillset(&action.sa_mask);
    return sigaction(signal_number, &action, NULL) == 0 ? 0 : -errno;
}

int stop_install(int listener_fd) {
    first = owner = getpid();
    listener = listener_fd;
    event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event < 0)
        return -errno;
    int error = install(SIGALRM, handle_alarm);
    if (error == 0)
        error = install(SIGTERM, handle_stop);
    if (error == 0)
        error = install(SIGINT, handle_stop);
    return error;
}

HOT int stop_after_fork(int listener_fd) {
    /* It may live for only one client: make no unnecessary system call, and write nothing. */
    if (listener_fd >= 0) {
        int own = eventfd(requested != 0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (own < 0)
            return -errno;
        listener = listener_fd;
        event = own;
        owner = getpid();
    }
    if (requested != 0)
        set_alarm(); /* it is not inherited */
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0)
        return -errno;
    /* The parent may have died before the prctl. */
    return getppid() == first ? 0 : -ESRCH;
}

HOT bool stop_is_requested(void) {
    return requested != 0;
}

int stop_left_ms(void) {
    return requested == 0 ? -1 : left_ms(atomic_load(&deadline_ns));
}

int stop_hearing_ms(void) {
    return requested == 0 ? -1 : left_ms(hearing_end_ns());
}

bool stop_is_over(void) {
    return stop_left_ms() == 0;
}

int stop_fd(void) {
    return event;
}

void stop_interrupts(int connection_fd) {
    connection = connection_fd;
    /* The alarm may have come just before: then nothing else would shut this connection. */
    if (requested != 0 && connection_fd >= 0 && stop_hearing_ms() == 0)
        shutdown(connection_fd, expired != 0 ? SHUT_RDWR : SHUT_RD);
}

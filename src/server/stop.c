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
static volatile pid_t first,
    owner; /* the process that forks the others; the owner of the next two */
static volatile sig_atomic_t listener, event;
static void (*called)(void *argument);
static void *call_argument;
/* Of the thread that handles the signals. A process just forked writes to no other variable of this
 * file: thread-local memory is on a page that the C library has already made it copy. */
static _Thread_local volatile sig_atomic_t connection = -1;

/* Rounded up. */
static int left_ms(int64_t until_ns) {
    int64_t left_ns = until_ns - clock_monotonic_ns();
    return left_ns > 0 ? (int)(left_ns / NS_PER_MS) + 1 : 0;
}

static int64_t hearing_end_ns(void) {
    return atomic_load(&deadline_ns) - (DRAIN_LIMIT_S - HEARING_S) * (int64_t)NS_PER_S;
}

/* For HEARING_S, then for DRAIN_LIMIT_S. */
static void set_alarm(void) {
    int hearing_ms = left_ms(hearing_end_ns());
    int wait_ms = hearing_ms > 0 ? hearing_ms : left_ms(atomic_load(&deadline_ns));
    struct itimerval timer = {.it_value = {wait_ms / 1000, wait_ms % 1000 * 1000 + 1}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* Wakes all waiting threads, as the signal interrupts only one. Retried, as nothing else would. */
static void wake_waits(void) {
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
        return; /* the parent gets it too, and decides */
    /* A second Ctrl-C means: do not drain. A supervisor may repeat SIGTERM. */
    if (signal_number == SIGINT)
        signal(SIGINT, SIG_DFL);
    if (requested != 0 && !is_first && getppid() != first)
        _exit(EXIT_FAILURE);
    if (requested == 0) {
        atomic_store(&deadline_ns, clock_monotonic_ns() + DRAIN_LIMIT_S * (int64_t)NS_PER_S);
        set_alarm();
    }
    if (requested == 0 && called != NULL)
        called(call_argument);
    requested = 1;
    /* Otherwise they are the parent's: this process waits for no descriptor, or was just forked and
     * stop_after_fork will do the rest. */
    if (self == owner)
        wake_waits();
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

/* No SA_RESTART: blocking calls must return. All signals are masked: handlers do not nest. */
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
    /* The process may live for only one client: no unnecessary system call or page copy. */
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

void stop_calls(void (*function)(void *argument), void *argument) {
    call_argument = argument;
    called = function;
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
    /* If the alarm came just before, nothing else would shut this connection. */
    if (requested != 0 && connection_fd >= 0 && stop_hearing_ms() == 0)
        shutdown(connection_fd, expired != 0 ? SHUT_RDWR : SHUT_RD);
}

#include "watch/signals.h"

#include <stddef.h>
#include <unistd.h>

enum { SIGNAL_STATUS = 128 };

static const int ENDING[] = {SIGINT, SIGTERM, SIGHUP};
static const int NOTED[] = {SIGTSTP, SIGCONT, SIGWINCH};

/* Globals, because a signal handler gets no argument. */
static volatile sig_atomic_t ended, noted[NSIG];

static void on_end(int signal_number) {
    ended = signal_number;
}

static void on_noted(int signal_number) {
    noted[signal_number] = 1;
}

static void on_end_at_once(int signal_number) {
    _exit(SIGNAL_STATUS + signal_number);
}

/* Signals that our parent set to be ignored (nohup) stay ignored. */
static void handle(int signal_number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler}, before;
    sigemptyset(&action.sa_mask);
    if (sigaction(signal_number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(signal_number, &action, NULL);
}

sigset_t signals_for_plain(void) {
    sigset_t waiting;
    sigprocmask(SIG_SETMASK, NULL, &waiting);
    for (size_t i = 0; i < sizeof ENDING / sizeof *ENDING; i++)
        handle(ENDING[i], on_end_at_once);
    return waiting;
}

sigset_t signals_for_screen(void) {
    sigset_t held, waiting;
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof ENDING / sizeof *ENDING; i++) {
        handle(ENDING[i], on_end);
        sigaddset(&held, ENDING[i]);
    }
    for (size_t i = 0; i < sizeof NOTED / sizeof *NOTED; i++) {
        handle(NOTED[i], on_noted);
        sigaddset(&held, NOTED[i]);
    }
    sigprocmask(SIG_BLOCK, &held, &waiting);
    for (size_t i = 0; i < sizeof ENDING / sizeof *ENDING; i++)
        sigdelset(&waiting, ENDING[i]);
    for (size_t i = 0; i < sizeof NOTED / sizeof *NOTED; i++)
        sigdelset(&waiting, NOTED[i]);
    return waiting;
}

int signals_end(void) {
    return ended;
}

bool signals_take(int signal_number) {
    bool was = noted[signal_number] != 0;
    noted[signal_number] = 0;
    return was;
}

/* Starts sleeping processes, so that there is something to read: `sleepers PROCESSES THREADS`, with
 * THREADS additional threads in each. Prints "ready" when all sleep; the end of stdin ends them.
 * None survives this program: they are in their own pid namespace, which ends with its first
 * process, or, if that is not permitted, the kernel kills each when its parent ends. */
#include "base/number.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USAGE_ERROR = 2, SMALL_STACK = 16 * 1024 };

static void fail(const char *what) {
    fprintf(stderr, "sleepers: %s: %s\n", what, strerror(errno));
    _exit(EXIT_FAILURE);
}

static void *sleep_on(void *unused) {
    for (;;)
        pause();
    return unused;
}

static void start_threads(uint64_t count) {
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, SMALL_STACK);
    pthread_attr_setguardsize(&small, 0);
    for (; count > 0; count--) {
        errno = pthread_create(&thread, &small, sleep_on, NULL);
        if (errno != 0)
            fail("pthread_create");
    }
    pthread_attr_destroy(&small);
}

/* One sleeper: writes a byte when its threads run. Its end of the pipe is then closed, or by the
 * kernel if it fails. */
static void sleep_in_child(uint64_t threads, pid_t parent, int ready) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_FAILURE);
    start_threads(threads);
    if (write(ready, "", 1) != 1)
        _exit(EXIT_FAILURE);
    close(ready);
    sleep_on(NULL);
}

/* Starts all sleepers and returns when stdin ends; they end with this process. */
static void make_all(uint64_t processes, uint64_t threads) {
    int ready[2];
    char byte;
    pid_t parent = getpid();
    if (pipe(ready) != 0)
        fail("pipe");
    for (uint64_t i = 0; i < processes; i++) {
        pid_t child = fork();
        if (child < 0)
            fail("fork");
        if (child == 0)
            sleep_in_child(threads, parent, ready[1]);
    }
    close(ready[1]);
    for (uint64_t i = 0; i < processes; i++)
        if (read(ready[0], &byte, 1) != 1)
            fail("a sleeping process failed");
    puts("ready");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
}

int main(int argc, char **argv) {
    uint64_t processes = 0, threads = 0;
    int status = 0;
    if (argc != 3 || number_parse(argv[1], 0, 1 << 20, &processes) != 0 ||
        number_parse(argv[2], 0, 1 << 16, &threads) != 0) {
        fprintf(stderr, "usage: sleepers PROCESSES THREADS\n");
        return USAGE_ERROR;
    }
    bool has_own = unshare(CLONE_NEWPID) == 0;
    pid_t first = fork();
    if (first < 0)
        fail("fork");
    if (first == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setpgid(0, 0);
        make_all(processes, threads);
        if (!has_own) { /* without a pid namespace: end and reap them */
            signal(SIGTERM, SIG_IGN);
            kill(0, SIGTERM);
            while (wait(NULL) > 0)
                continue;
        }
        _exit(EXIT_SUCCESS);
    }
    while (waitpid(first, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

/* Processes that are hard to account for. Each prints "ready" when it has reached its state, and
 * then sleeps until it is killed or stdin ends, so that none outlives its test.
 *
 *     lives dead-thread MS       a thread uses this much CPU time and ends
 *     lives dead-leader MS       the first thread ends; another uses CPU time and lives
 *     lives exec-from-thread MS  a thread other than the first uses CPU time and calls exec
 *     lives zombie MS            uses CPU time and ends
 *     lives threads COUNT        this many threads that sleep
 *     lives storm WIDTH          this many children at a time that end at once, repeatedly
 *     lives reuse PID MS         a child with this pid uses CPU time and prints "ready"; at the
 *                                next line on stdin it ends and another gets its pid: "ready"
 *     lives wait                 nothing: what exec-from-thread becomes */
#include <errno.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SMALL_STACK = 32 * 1024 };

static const char *itself;

static void check(int is_well, const char *what) {
    if (!is_well) {
        fprintf(stderr, "lives: %s: %s\n", what, strerror(errno));
        _exit(EXIT_FAILURE);
    }
}

static void say_ready(void) {
    check(write(STDOUT_FILENO, "ready\n", 6) == 6, "stdout");
}

/* Until stdin ends. */
static void wait_for_end(void) {
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    _exit(EXIT_SUCCESS);
}

/* Uses this much CPU time in this thread. */
static void burn(long ms) {
    struct timespec used;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < ms);
}

static void *burn_and_end(void *ms) {
    burn((intptr_t)ms);
    return NULL;
}

static void *burn_and_wait(void *ms) {
    char state = 0;
    burn((intptr_t)ms);
    while (state != 'Z') { /* the first thread may not have ended yet */
        FILE *file = fopen("/proc/self/stat", "r");
        check(file != NULL && fscanf(file, "%*d (%*[^)]) %c", &state) == 1, "stat");
        fclose(file);
    }
    say_ready();
    wait_for_end();
    return NULL;
}

static void *burn_and_exec(void *ms) {
    burn((intptr_t)ms);
    execl(itself, "lives", "wait", NULL);
    check(0, "exec");
    return NULL;
}

static void *sleep_on(void *unused) {
    for (;;)
        pause();
    return unused;
}

static void *sleep_as_other(void *unused) {
    prctl(PR_SET_NAME, "other");
    return sleep_on(unused);
}

static void take_name(const char *digits) {
    unsigned char name[16] = "";
    for (unsigned i = 0; i < sizeof name - 1 && sscanf(digits + 2 * i, "%2hhx", &name[i]) == 1; i++)
        continue;
    prctl(PR_SET_NAME, name);
}

static void take_names(void) {
    char line[40];
    say_ready();
    while (fgets(line, sizeof line, stdin) != NULL) {
        take_name(line);
        say_ready();
    }
    _exit(EXIT_SUCCESS);
}

static pthread_t start(void *(*life)(void *), long ms) {
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, SMALL_STACK);
    errno = pthread_create(&thread, &small, life, (void *)(intptr_t)ms);
    check(errno == 0, "pthread_create");
    pthread_attr_destroy(&small);
    return thread;
}

static int stdin_has_ended(void) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, 0) != 0;
}

static void burn_more(long ms) {
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    burn(used.tv_sec * 1000 + used.tv_nsec / 1000000 + ms);
}

static void *burn_at_each_line(void *ms) {
    char byte;
    say_ready();
    while (read(STDIN_FILENO, &byte, 1) == 1) {
        burn_more((intptr_t)ms);
        say_ready();
    }
    _exit(EXIT_SUCCESS);
}

static void burn_now_and_then(long ms) {
    char byte;
    say_ready();
    for (unsigned turn = 0; read(STDIN_FILENO, &byte, 1) == 1; turn++) {
        if (turn % 2 == 0)
            burn_more(ms);
        else
            pthread_join(start(burn_and_end, ms), NULL);
        say_ready();
    }
    _exit(EXIT_SUCCESS);
}

static void rename_all_the_time(const char *one, const char *other) {
    take_name(one);
    say_ready();
    while (!stdin_has_ended()) {
        take_name(one);
        take_name(other);
    }
    _exit(EXIT_SUCCESS);
}

/* Prints their number at the end. */
static void storm(long width) {
    unsigned long born = 0;
    say_ready();
    while (!stdin_has_ended()) {
        for (long i = 0; i < width; i++) {
            pid_t child = fork();
            check(child >= 0, "fork");
            if (child == 0)
                _exit(EXIT_SUCCESS);
            born++;
        }
        while (wait(NULL) > 0)
            continue;
    }
    printf("%lu\n", born);
    fflush(stdout);
    _exit(EXIT_SUCCESS);
}

/* A child with this pid, which is free. It dies with its parent. */
static pid_t child_with(pid_t pid) {
    struct clone_args arguments = {
        .exit_signal = SIGCHLD,
        .set_tid = (uint64_t)(uintptr_t)&pid,
        .set_tid_size = 1,
    };
    pid_t child = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
    check(child >= 0, "clone3 with a chosen pid");
    if (child == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return child;
}

static void reuse(pid_t pid, long ms) {
    char byte;
    pid_t first = child_with(pid);
    if (first == 0) {
        prctl(PR_SET_NAME, "first");
        burn(ms);
        say_ready();
        sleep_on(NULL);
    }
    check(read(STDIN_FILENO, &byte, 1) == 1, "stdin");
    kill(first, SIGKILL);
    waitpid(first, NULL, 0);
    if (child_with(pid) == 0) {
        prctl(PR_SET_NAME, "second");
        say_ready();
        sleep_on(NULL);
    }
    wait_for_end();
}

int main(int argc, char **argv) {
    const char *life = argc > 1 ? argv[1] : "";
    long number = argc > 2 ? atol(argv[2]) : 0;
    itself = argv[0];
    if (strcmp(life, "dead-thread") == 0) {
        pthread_join(start(burn_and_end, number), NULL);
    } else if (strcmp(life, "dead-leader") == 0) {
        start(burn_and_wait, number);
        pthread_exit(NULL);
    } else if (strcmp(life, "exec-from-thread") == 0) {
        start(burn_and_exec, number);
        sleep_on(NULL);
    } else if (strcmp(life, "zombie") == 0) {
        burn(number);
        return EXIT_SUCCESS;
    } else if (strcmp(life, "threads") == 0) {
        for (long i = 0; i < number; i++)
            start(sleep_as_other, 0);
    } else if (strcmp(life, "named") == 0) {
        burn(number);
        take_names();
    } else if (strcmp(life, "now-and-then") == 0) {
        burn_now_and_then(number);
    } else if (strcmp(life, "other-burns") == 0) {
        start(burn_at_each_line, number);
        sleep_on(NULL);
    } else if (strcmp(life, "renamed") == 0 && argc > 3) {
        rename_all_the_time(argv[2], argv[3]);
    } else if (strcmp(life, "storm") == 0) {
        storm(number);
    } else if (strcmp(life, "reuse") == 0 && argc > 3) {
        reuse((pid_t)number, atol(argv[3]));
    } else if (strcmp(life, "wait") != 0) {
        fprintf(stderr, "lives: no such life\n");
        return 2;
    }
    say_ready();
    wait_for_end();
}

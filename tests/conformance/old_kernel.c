/* Preloaded into a server: a kernel without what $LACKS names: "landlock" (not built in), "enabled"
 * (Landlock disabled at boot) or "seccomp" (no filters). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { LANDLOCK_CREATE_RULESET = 444, ARGUMENTS = 6 };

static bool lacks(const char *what) {
    const char *named = getenv("LACKS");
    return named != NULL && strcmp(named, what) == 0;
}

static long refuse(int error) {
    errno = error;
    return -1;
}

#define TAKE(last, into)                                                                           \
    do {                                                                                           \
        va_list arguments;                                                                         \
        va_start(arguments, last);                                                                 \
        for (int i = 0; i < ARGUMENTS; i++)                                                        \
            (into)[i] = va_arg(arguments, long);                                                   \
        va_end(arguments);                                                                         \
    } while (0)

long syscall(long number, ...) {
    static long (*real)(long, ...);
    long of[ARGUMENTS];
    TAKE(number, of);
    if (number == LANDLOCK_CREATE_RULESET && lacks("landlock"))
        return refuse(ENOSYS);
    if (number == LANDLOCK_CREATE_RULESET && lacks("enabled"))
        return refuse(EOPNOTSUPP);
    if (number == SYS_seccomp && lacks("seccomp"))
        return refuse(EINVAL);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    return real(number, of[0], of[1], of[2], of[3], of[4], of[5]);
}

int prctl(int option, ...) {
    static int (*real)(int, ...);
    long of[ARGUMENTS];
    TAKE(option, of);
    if (option == PR_SET_SECCOMP && lacks("seccomp"))
        return (int)refuse(EINVAL);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "prctl");
    return real(option, of[0], of[1], of[2], of[3]);
}

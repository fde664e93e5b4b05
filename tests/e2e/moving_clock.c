/* Preloaded into a program: each quarter of a second the system clock is set, to a day behind,
 * to the right time, to a day ahead. What is timed by CLOCK_REALTIME then ends at once or never. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { DAY_S = 86400, PERIOD_MS = 250 };

int clock_gettime(clockid_t clock, struct timespec *now) {
    int error = (int)syscall(SYS_clock_gettime, clock, now);
    if (error == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        struct timespec steady;
        syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &steady);
        long period = (steady.tv_sec * 1000 + steady.tv_nsec / 1000000) / PERIOD_MS;
        now->tv_sec += (period % 3 - 1) * DAY_S;
    }
    return error;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec time;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &time);
    *now = (struct timeval){time.tv_sec, time.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at != NULL)
        *at = now.tv_sec;
    return now.tv_sec;
}

#include "base/clock.h"

#include "base/hot.h"

#include <time.h>

static int64_t read_ns(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

HOT int64_t clock_monotonic_ns(void) {
    return read_ns(CLOCK_MONOTONIC);
}

int64_t clock_boot_ns(void) {
    return read_ns(CLOCK_BOOTTIME);
}

int64_t clock_unix_ns(void) {
    return read_ns(CLOCK_REALTIME);
}

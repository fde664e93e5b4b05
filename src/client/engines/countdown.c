#include "client/engines/countdown.h"

#include "base/clock.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void countdown_leave(struct countdown *countdown) {
    if (atomic_fetch_sub(&countdown->left, 1) == 1)
        syscall(SYS_futex, &countdown->left, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

bool countdown_wait(struct countdown *countdown, uint32_t timeout_ms) {
    int64_t now_ns = clock_monotonic_ns(), until_ns = now_ns + timeout_ms * NS_PER_MS;
    uint32_t left;
    while ((left = atomic_load(&countdown->left)) > 0 && now_ns < until_ns) {
        int64_t rest_ns = until_ns - now_ns;
        struct timespec rest = {rest_ns / NS_PER_S, rest_ns % NS_PER_S};
        /* Returns at once if another thread has left since. */
        syscall(SYS_futex, &countdown->left, FUTEX_WAIT_PRIVATE, left, &rest, NULL, 0);
        now_ns = clock_monotonic_ns();
    }
    return left == 0;
}

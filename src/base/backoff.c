#include "base/backoff.h"

#include "base/clock.h"
#include "base/hot.h"

#include <errno.h>
#include <time.h>

enum { BACKOFF_MS = 10 };

void back_off(void) {
    int saved = errno;
    nanosleep(&(struct timespec){.tv_nsec = BACKOFF_MS * NS_PER_MS}, NULL);
    errno = saved;
}

HOT int poll_or_back_off(struct pollfd *waits, nfds_t count, int wait_ms) {
    int ready = poll(waits, count, wait_ms);
    if (ready < 0 && errno != EINTR)
        back_off();
    return ready;
}

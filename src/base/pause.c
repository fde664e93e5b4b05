#include "base/pause.h"

#include "base/clock.h"
#include "base/hot.h"

#include <errno.h>
#include <time.h>

void pause_a_moment(void) {
    int saved = errno;
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * NS_PER_MS}, NULL);
    errno = saved;
}

HOT int poll_or_pause(struct pollfd *waits, nfds_t count, int wait_ms) {
    int ready = poll(waits, count, wait_ms);
    if (ready < 0 && errno != EINTR)
        pause_a_moment();
    return ready;
}

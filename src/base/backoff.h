/* A short sleep before a retry, so that a lasting failure does not make a loop spin. */
#pragma once
#include <poll.h>

/* Sleeps for 10 ms; a signal ends it early. Preserves errno. */
void back_off(void);

/* poll(2) that backs off after a failure other than EINTR. */
int poll_or_back_off(struct pollfd *waits, nfds_t count, int wait_ms);

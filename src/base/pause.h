/* A moment's pause after a failure that may last: what is tried again and again must not spin. */
#pragma once
#include <poll.h>

enum { PAUSE_MS = 10 };

/* errno stays; a signal ends it early. */
void pause_a_moment(void);

/* poll(2), with a pause if it fails otherwise than by a signal. */
int poll_or_pause(struct pollfd *waits, nfds_t count, int wait_ms);

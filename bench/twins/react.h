/* An event loop on epoll or io_uring that serves a listener; a process may run several. */
#pragma once
#include "twin.h"

/* Returns -errno. */
int react(const struct twin *twin, int listener);

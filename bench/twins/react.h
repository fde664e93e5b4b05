/* An event loop, on epoll or io_uring, that serves a listener: the only one of the process, or one
 * of several. */
#pragma once
#include "twin.h"

/* Returns -errno. */
int react(const struct twin *twin, int listener);

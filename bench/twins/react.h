/* One loop, on epoll or on a ring, that serves a listener: the one loop of the process, or one of
 * several. */
#pragma once
#include "twin.h"

/* Returns -errno. */
int react(const struct twin *twin, int listener);

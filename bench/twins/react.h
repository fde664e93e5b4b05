/* An event loop on epoll or io_uring that serves a listener; a process may run several. */
#pragma once
#include "twin.h"

/* epoll: the waits poll the network card. */
extern bool react_is_busy;

/* Returns -errno. */
int react(const struct twin *twin, int listener);

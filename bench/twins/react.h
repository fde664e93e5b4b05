/* An event loop on epoll or io_uring that serves a listener; a process may run several. */
#pragma once
#include "server/design.h"
#include "twin.h"

/* epoll: the waits poll the network card. */
extern bool react_is_busy;

/* io_uring: what the ring is set up for. */
extern enum rings react_rings;

/* Returns -errno. */
int react(const struct twin *twin, int listener);

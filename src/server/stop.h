/* Stopping on SIGTERM and SIGINT, without a race and without a cost while serving.
 *
 * A signal that comes between a test of a flag and a blocking call would be lost until the call
 * returned. So the handler acts on the descriptors themselves:
 *  - it writes to an eventfd, which event loops watch;
 *  - it puts that eventfd in the place of the listening descriptor: a blocked accept is interrupted
 *    and a later one fails at once (the listener lives on as drain_fd, with all who wait in it);
 *  - it shuts the reading side of the one connection that a design named with stop_interrupts:
 *    what came is still read, and then the end;
 *  - it sets an alarm: after DRAIN_LIMIT_S that connection is cut off, and the drain is over.
 * A second Ctrl-C ends the process at once. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* manager_fd: who is told of the first signal (service_manager.h). Returns 0 or -errno. */
int stop_install(int listener_fd, int manager_fd);

/* In a process just forked: gives it a stop of its own, for the parent's eventfd would tell the
 * parent, and sees to it that it does not outlive the parent. If the parent was told to stop, or
 * the child before it came here, so is the child. listener_fd: what the handler shall replace; -1:
 * the child waits for no descriptor and has no stop_fd.
 *
 * A child does what the parent says, by SIGTERM: Ctrl-C on a terminal, which reaches all of them,
 * is left to the parent. When the parent dies the child is told to stop; if it is stopping already,
 * somebody will not wait (Ctrl-C again), and it ends at once. Returns 0 or -errno (-ESRCH: the
 * parent is dead). */
int stop_after_fork(int listener_fd);

bool stop_is_requested(void);

/* Milliseconds until the drain must be over, 0 if it must; -1 while no stop is requested. */
int stop_left_ms(void);

/* Readable once a stop is requested. */
int stop_fd(void);

/* The connection whose blocking read a stop must end; -1: none. */
void stop_interrupts(int connection_fd);

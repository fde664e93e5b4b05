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

/* Returns 0 or -errno. */
int stop_install(int listener_fd);

bool stop_is_requested(void);

/* Milliseconds until the drain must be over, 0 if it must; -1 while no stop is requested. */
int stop_left_ms(void);

/* Readable once a stop is requested. */
int stop_fd(void);

/* The connection whose blocking read a stop must end; -1: none. */
void stop_interrupts(int connection_fd);

/* Stopping on SIGTERM and SIGINT, without races and without cost while serving.
 *
 * A signal between the test of a flag and a blocking call would be lost until the call returned. So
 * the handler acts on the descriptors themselves:
 *  - it writes to an eventfd, which event loops watch;
 *  - it replaces the listening descriptor with that eventfd: a blocked accept is interrupted and a
 *    later one fails at once (the listener lives on as drain_fd, with its backlog);
 *  - it sets an alarm for the connection that a design named with stop_interrupts: after HEARING_S
 *    its reading side is shut, so that data that has arrived is still read; after DRAIN_LIMIT_S the
 *    connection is shut down, and the drain is over.
 * A second Ctrl-C ends the process at once. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Returns 0 or -errno. */
int stop_install(int listener_fd);

/* In a process just forked: gives it its own eventfd, because writing to the parent's would stop
 * the parent, and makes sure that it does not outlive the parent. If the parent or the child itself
 * was already told to stop, the child stops. listener_fd: the descriptor that the handler replaces;
 * -1: the child waits for no descriptor and has no stop_fd.
 *
 * A child obeys SIGTERM from the parent and ignores Ctrl-C, which reaches the whole process group.
 * If the parent dies the child is told to stop; if it is already stopping (a second Ctrl-C ended
 * the parent), it exits at once. Returns 0 or -errno (-ESRCH: the parent is dead). */
int stop_after_fork(int listener_fd);

/* Calls the function once, in the signal handler of a stop: for a server without a loop that would
 * notice it. It must do only what a handler may. */
void stop_calls(void (*function)(void *argument), void *argument);

bool stop_is_requested(void);

/* Milliseconds until the drain must end, 0 if it is over; -1 while no stop is requested. */
int stop_left_ms(void);

/* Milliseconds until connections are no longer read (HEARING_S), 0 if that has passed; -1 while no
 * stop is requested. */
int stop_hearing_ms(void);

/* A stop is requested, and the drain must have ended. */
bool stop_is_over(void);

/* Readable once a stop is requested. */
int stop_fd(void);

/* The connection whose blocking read the alarm must interrupt; -1: none. */
void stop_interrupts(int connection_fd);

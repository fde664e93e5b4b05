/* Stopping on SIGTERM and SIGINT, without races and without cost while serving.
 *
 * A signal between the test of a flag and a blocking call would be lost until the call returned. So
 * the handler acts on the descriptors themselves:
 *  - it writes to an eventfd, which event loops watch;
 *  - it replaces the listening descriptor with that eventfd: a blocked accept is interrupted and a
 *    later one fails at once (the listener lives on as drain_fd, with its backlog);
 *  - it sets an alarm: after HEARING_S, the hearing, the reading side of the connection that a
 * design named with stop_interrupts is shut: what has come is still read, and then the end; after
 *    DRAIN_LIMIT_S that connection is cut off, and the drain is over.
 * A second Ctrl-C ends the process at once. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Returns 0 or -errno. */
int stop_install(int listener_fd);

/* In a process just forked: gives it an eventfd of its own, because the parent's would tell the
 * parent, and makes sure that it does not outlive the parent. If the parent, or the child itself,
 * was already told to stop, the child stops. listener_fd: what the handler replaces; -1: the child
 * waits for no descriptor and has no stop_fd.
 *
 * A child obeys SIGTERM from the parent and ignores Ctrl-C, which reaches the whole terminal group.
 * When the parent dies the child is told to stop; if it is already stopping (a second Ctrl-C ended
 * the parent), it ends at once. Returns 0 or -errno (-ESRCH: the parent is dead). */
int stop_after_fork(int listener_fd);

bool stop_is_requested(void);

/* Milliseconds until the drain must end, 0 if it is over; -1 while no stop is requested. */
int stop_left_ms(void);

/* Milliseconds for which connections are still read, 0 if that is over; -1 while no stop is
 * requested. */
int stop_hearing_ms(void);

/* A stop is requested, and the drain must have ended. */
bool stop_is_over(void);

/* Readable once a stop is requested. */
int stop_fd(void);

/* The connection whose blocking read the end of the hearing must interrupt; -1: none. */
void stop_interrupts(int connection_fd);

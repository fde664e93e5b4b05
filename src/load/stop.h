/* Ctrl-C and SIGTERM: the load stops, and what was done is still summed up. */
#pragma once
#include <stdbool.h>

/* From now on the two signals set a flag and interrupt system calls, in whatever thread they
 * arrive. An engine that waits sends SIGTERM to its workers again and again until they are done:
 * so it does no harm that a signal comes just before a system call. */
void stop_install(void);

bool stop_requested(void);

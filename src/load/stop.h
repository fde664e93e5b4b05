/* Ctrl-C and SIGTERM: the load stops, and its summary is still made. */
#pragma once
#include <stdbool.h>

/* From now on the two signals set a flag and interrupt system calls, in whatever thread they
 * arrive. An engine that waits sends SIGTERM to its workers repeatedly until they are done, so a
 * signal just before a system call is not lost. */
void stop_install(void);

bool stop_requested(void);

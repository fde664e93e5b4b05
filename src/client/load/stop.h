/* Ctrl-C and SIGTERM stop the load; its summary is still printed. */
#pragma once
#include <stdbool.h>

/* A signal may arrive just before a blocking call and not interrupt it, so waits are at most this
 * long, and an engine sends SIGTERM to its workers repeatedly until they are done. */
enum { STOP_POLL_MS = 100 };

/* From now on the two signals set a flag and interrupt system calls in the thread where they
 * arrive. */
void stop_install(void);

bool stop_requested(void);

/* Allows only the files that the server reads, and no outgoing connections (Landlock, Linux 5.13).
 *
 * Open descriptors stay open: the listeners, the summary, the scan cache. From now on only files
 * below /proc and /dev/null can be opened, for reading. Since Linux 6.7 no TCP socket can be bound
 * or connected; since 6.12 no process outside can be reached by signals or abstract sockets. */
#pragma once
#include "server/sandbox/sandbox.h"

/* no_new_privs must already be set. */
void landlock_enter(struct layer *layer);

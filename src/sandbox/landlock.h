/* Only the files that the server reads, and no outgoing connections: Landlock, Linux 5.13 and
 * newer.
 *
 * Open descriptors stay open: the listeners, the summary, the scan cache. From now on only files
 * below /proc and /dev/null can be opened, for reading. Linux 6.7: no TCP socket can be bound or
 * connected. Linux 6.12: no signals and abstract sockets to processes outside. */
#pragma once
#include "sandbox/sandbox.h"

/* no_new_privs must already be set. */
void landlock_enter(struct layer *layer);

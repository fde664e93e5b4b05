/* No file but those that are read, and no connection of its own: Landlock, Linux 5.13 and newer.
 *
 * What is open already stays open: the listeners, the summary, kept descriptors. From now on files
 * can be opened beneath /proc, and /dev/null; to read, nothing else. Linux 6.7:
 * no TCP socket can be bound or connected. Linux 6.12: signals and abstract sockets reach no
 * process outside. */
#pragma once
#include "sandbox/sandbox.h"

/* Needs no new privileges to be set already. */
void landlock_enter(struct layer *layer);

/* Changes a process that root started to another user.
 *
 * The groups become the user's groups in the system's database: root's are gone, and an
 * administrator can add one (as a /proc mounted with hidepid and gid= needs). The change clears the
 * parent death signal, so it is set again. */
#pragma once
#include "server/sandbox/sandbox.h"

/* name: NULL: the service's own user if it exists, otherwise nobody. Returns 0, also if no user was
 * named and the process keeps its own; -errno if it cannot become the named user and nothing
 * changed, or if only some ids changed: then it must exit. The layer does not hold while any of the
 * process's users and groups is root. */
int user_change(struct layer *layer, const char *name);

/* Keeps processes of the same user from tracing this one or reading its memory, and disables core
 * dumps. Call it after user_change, which may undo it. */
void user_hide_memory(struct layer *layer);

/* A user other than root, for a process that root started.
 *
 * The groups become the user's groups in the system's database: root's are gone, and an
 * administrator can add one (as a /proc mounted with hidepid and gid= needs). The change clears the
 * parent death signal, so it is set again. */
#pragma once
#include "sandbox/sandbox.h"

/* name: NULL: the service's own user if it exists, otherwise nobody. Returns 0, also if the process
 * keeps its user because none was named; -errno if it cannot become the named user, and nothing
 * changed, or if it became half of a user: then it must end. The layer does not hold while
 * any of the process's users and groups is root. */
int user_change(struct layer *layer, const char *name);

/* No process of the same user may trace this one or read its memory, and it leaves no core. After
 * user_change, which may undo it. */
void user_hide_memory(struct layer *layer);

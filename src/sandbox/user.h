/* Another user than root: of a process that root started.
 *
 * The groups become those that the user has in the system's database: root's are gone, and an
 * administrator can give the service one (as /proc mounted with hidepid and gid= asks for). What
 * the kernel forgets with the change, that the process shall end with its parent, is asked for
 * again. */
#pragma once
#include "sandbox/sandbox.h"

/* name: NULL: the service's own user if there is one, else nobody. Returns 0, also if the process
 * stays who it is because none was named; -errno if it cannot become who was named, unchanged. */
int user_change(struct layer *layer, const char *name);

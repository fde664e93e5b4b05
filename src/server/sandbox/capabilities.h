/* Removes all capabilities from every set of the process, so that no program that it runs gains
 * any. */
#pragma once
#include "server/sandbox/sandbox.h"

/* Clears the bounding set; call it while the process still has CAP_SETPCAP. Without that it does
 * nothing, and capabilities_drop reports it. */
void capabilities_bound(void);

/* Clears all other sets, and sets no_new_privs. */
void capabilities_drop(struct layer *layer);

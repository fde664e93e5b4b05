/* No capability: in no set of the process, and none to gain by running a program. */
#pragma once
#include "sandbox/sandbox.h"

/* Clears the bounding set while the process still may. Without the right to do so it does nothing;
 * capabilities_drop says so. */
void capabilities_bound(void);

/* All other sets, and no new privileges. */
void capabilities_drop(struct layer *layer);

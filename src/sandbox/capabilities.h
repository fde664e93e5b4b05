/* No capability: not in any set of the process, nor to be had by running a program. */
#pragma once
#include "sandbox/sandbox.h"

/* While the process may still: takes all out of the bounding set. Without the right to that it does
 * nothing; capabilities_drop says so. */
void capabilities_bound(void);

/* All other sets, and no new privileges. */
void capabilities_drop(struct layer *layer);

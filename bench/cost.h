/* What one reading of all processes costs: measured the same way for ours and for the peers. */
#pragma once
#include <stdint.h>

/* One whole reading; returns how many processes were in it, 0 if it failed. */
typedef uint32_t cost_reading(void *context);

/* Prints, as JSON, what `reading` costs in CPU time of this process: after so many readings that
 * whatever is kept from one to the next is there, as many as take a tenth of a second, and at least
 * three. Returns the exit status of the program. */
int cost_print(cost_reading *reading, void *context);

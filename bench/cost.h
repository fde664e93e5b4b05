/* Measures what one reading of all processes costs, the same way for ours and for the peers. */
#pragma once
#include <stdint.h>

/* One reading; returns the number of processes, 0 if it failed. */
typedef uint32_t cost_reading(void *context);

/* Prints as JSON the CPU time of `reading`: first enough readings to fill any cache, then as many
 * as take a tenth of a second, at least three. Returns the program's exit status. */
int cost_print(cost_reading *reading, void *context);

/* Measures the cost of reading all processes, in the same way for our sources and the peers. */
#pragma once
#include <stdint.h>

/* One reading; returns the number of processes, 0 if it failed. */
typedef uint32_t cost_reading(void *context);

/* Prints the CPU time of `reading` as JSON: after enough readings to fill any cache, the mean of at
 * least three readings and a tenth of a second. Returns the program's exit status. */
int cost_print(cost_reading *reading, void *context);

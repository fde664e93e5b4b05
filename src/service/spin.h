/* A fixed amount of computing, for the work `spin`. It is counted in steps, not in time, so that
 * preemption delays it as it delays real work. The steps per microsecond are measured once. */
#pragma once
#include <stdint.h>

/* How many steps take duration_ns on this CPU when nothing else runs on it. Takes about 20 ms,
 * mostly for the CPU to reach its clock frequency. */
uint64_t spin_steps(int64_t duration_ns);

void spin(uint64_t steps);

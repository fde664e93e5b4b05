/* A fixed amount of computing, for the work `spin`.
 *
 * It is counted in steps and not in time: a spin that is preempted, or shares its CPU with others,
 * has as much left to do as it had before, as real work has. How many steps make a microsecond is
 * measured once. */
#pragma once
#include <stdint.h>

/* Steps that take as long as duration_ns on this CPU while nothing else runs on it. Takes about
 * 20 ms, most of them to let the CPU reach its speed. */
uint64_t spin_steps(int64_t duration_ns);

void spin(uint64_t steps);

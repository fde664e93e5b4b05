/* One connection on a blocking socket: what a thread or a process of its own does. */
#pragma once
#include "load/load.h"

/* Connects, asks once, reads the reply, closes. */
void blocking_burst(const struct load *load, struct worker *worker, uint32_t connection);

/* Asks again and again until end_ns. */
void blocking_closed(const struct load *load, struct worker *worker, uint32_t connection,
                     int64_t end_ns);

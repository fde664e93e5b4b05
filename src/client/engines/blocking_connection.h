/* The load of one connection on a blocking socket, run by a client thread or process. */
#pragma once
#include "client/load/load.h"

/* Connects, sends one request, reads the reply, closes. */
void blocking_burst(const struct load *load, struct worker *worker, uint32_t connection);

/* Sends requests until end_ns (CLOCK_MONOTONIC). */
void blocking_closed(const struct load *load, struct worker *worker, uint32_t connection,
                     int64_t end_ns);

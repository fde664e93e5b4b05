/* Whether the client itself, and not the server, was what limited a load. */
#pragma once
#include "base/text.h"
#include "load/load.h"

#include <stdbool.h>
#include <stdint.h>

/* The client's CPU time ÷ (window × CPUs it could use), 0 to 1. */
double client_bound_cpu_share(const struct load *load);

/* How many CPUs that were: at most one for each of its threads or processes. */
unsigned client_bound_cpus(const struct load *load);

/* Whether so many requests started of those that were due that the load was what was asked for. */
bool client_bound_rate_is_held(uint64_t started, uint64_t due);

/* How many per cent of those that were due, to a tenth and downwards: 98.96 % is not 99 %. */
double client_bound_started_percent(uint64_t started, uint64_t due);

/* Why it was client-bound, as "used 93 % of its CPU". Adds nothing if it was not, or if the window
 * was too short to tell. */
void client_bound_explain(const struct load *load, struct text *why);

/* Whether the client, and not the server, limited a load. */
#pragma once
#include "base/text.h"
#include "client/load/load.h"

#include <stdbool.h>
#include <stdint.h>

/* The client's CPU time ÷ (length of the window × CPUs that it could use), 0 to 1; that of its
 * busiest thread, if it is more. */
double client_bound_cpu_share(const struct load *load);

/* The number of CPUs that the client could use: at most one per thread or process. */
unsigned client_bound_cpus(const struct load *load);

/* Of all threads, without the single values. */
struct lateness client_bound_lateness(const struct load *load);

/* Whether enough of the due requests started for the load to be as requested. */
bool client_bound_rate_is_held(uint64_t started, uint64_t due);

/* The percentage of due requests that started, rounded down to a tenth: 98.96 % is not 99 %. */
double client_bound_started_percent(uint64_t started, uint64_t due);

/* Appends why the load was client-bound, such as "used 93 % of its CPU". Appends nothing if it was
 * not, or if the window was too short to tell. */
void client_bound_explain(const struct load *load, struct text *why);

#ifndef REGATTA_RESULTS_ADVICE_H
#define REGATTA_RESULTS_ADVICE_H

#include "client/load/load.h"
#include "client/results/summary.h"

enum { ADVICE_LIMIT = 256 };

/* What to do about the load's first failed request. */
void failure_advice(const struct load *load, const struct summary *summary,
                    char advice[ADVICE_LIMIT]);

#endif

/* What the service has for /metrics: the machine's CPU time, and how it is read. */
#pragma once
#include "history/history.h"
#include "service/exposition.h"
#include "service/tally.h"
#include "top/scan.h"

struct metrics {
    const struct scan *scan; /* the newest reading; NULL: there is none, and no groups either */
    const struct history_group *groups; /* CPU time by names, and of all that is in none of them */
    unsigned group_count;
    const struct history_group *rest;
    const struct tally *tally;
    const char *source, *reason; /* that is in use, and why (top/source.h) */
    unsigned cpus;
};

void metrics_expose(const struct metrics *metrics, struct exposition *exposition);

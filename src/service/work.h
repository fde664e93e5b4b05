/* The works: what a request for the top costs the server. */
#pragma once
#include <stdint.h>

enum work_kind {
    WORK_SCAN,         /* reads all processes */
    WORK_CLASSIC,      /* the same without a cache, as in the reports (service/procfs/classic.h) */
    WORK_SNAPSHOT,     /* answers from the shared snapshot */
    WORK_WAIT,         /* sleeps, like a handler that waits for a database; then as WORK_SNAPSHOT */
    WORK_SPIN,         /* computes, then as WORK_SNAPSHOT */
    WORK_SCAN_SPIN,    /* computes, then as WORK_SCAN: slower by a known amount */
    WORK_CLASSIC_SPIN, /* computes, then as WORK_CLASSIC */
};

struct work {
    enum work_kind kind;
    int64_t duration_ns; /* of works that wait or compute; else 0 */
    const char *text;    /* as given, such as "wait=5ms"; its name everywhere */
};

/* Parses "scan", "classic", "snapshot", "wait=DURATION", "spin=DURATION", "scan+spin=DURATION" or
 * "classic+spin=DURATION". A duration is a whole number with its unit, us, ms or s, from 1us to
 * 60s. Keeps `text`, which must outlive *work. Returns 0; or -EINVAL, and *problem says in a few
 * words what is expected instead. */
int work_parse(const char *text, struct work *work, const char **problem);

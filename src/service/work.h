/* The works: what the server does for each request for the top. */
#pragma once
#include <stdint.h>

enum work_kind {
    WORK_SCAN,         /* a fresh look at all processes */
    WORK_CLASSIC,      /* the same as five reports took it: nothing is kept (top/classic.h) */
    WORK_SNAPSHOT,     /* answers from the shared snapshot */
    WORK_WAIT,         /* sleeps first, as on a database; then as WORK_SNAPSHOT */
    WORK_SPIN,         /* computes first; then as WORK_SNAPSHOT */
    WORK_SCAN_SPIN,    /* computes first; then as WORK_SCAN: a scan slowed by a known amount */
    WORK_CLASSIC_SPIN, /* the same of WORK_CLASSIC */
};

struct work {
    enum work_kind kind;
    int64_t duration_ns; /* of all that wait or compute; else 0 */
    const char *text;    /* as it was given, "wait=5ms": its name everywhere */
};

/* Parses "scan", "classic", "snapshot", "wait=DURATION", "spin=DURATION", "scan+spin=DURATION" or
 * "classic+spin=DURATION". A duration is a whole number with its unit, us, ms or s, from 1us to
 * 60s. Keeps `text`, which must outlive *work. Returns 0; or -EINVAL, and *problem says in a few
 * words what is expected instead. */
int work_parse(const char *text, struct work *work, const char **problem);

/* The groups of /metrics: a few places, for the names that use the CPU.
 *
 * A name counts from when it gets a place. That is when it has used enough, and the fewer places
 * are left the more that is, from 10 ms to 5 s: so that a host of hundreds of idle names has room
 * for whatever begins to work tomorrow. It loses its place after an hour in which it used next to
 * nothing, if it has no process any more or if another waits for it.
 *
 * What has no place is in the rest: what the machine was busy beyond the places, so that also the
 * time of processes that no reading saw is counted. No counter ever decreases: of a group that
 * loses its place the series ends, and the rest does not take it over. */
#pragma once
#include "history/history.h"
#include "history/labels.h"

#include <stdint.h>

struct metric_group {
    uint32_t label; /* 0: it is free */
    bool is_idle;   /* it was, for an hour */
    uint8_t name_length;
    char name[NAME_LIMIT];
    int64_t user_ns, system_ns;
    int64_t hour_at_ns, hour_used_ns; /* when this hour began (CLOCK_MONOTONIC), and from what */
};

struct metric_groups {
    struct metric_group groups[METRIC_GROUPS];
    uint32_t count;
    bool is_wanted; /* by a name that got none */
    bool has_begun;
    int64_t user_ns, system_ns;             /* of all that have or had a place */
    int64_t begun_user_ns, begun_system_ns; /* that the machine was busy before the first reading */
    int64_t rest_user_ns, rest_system_ns;
};

/* A label used the CPU. */
void metric_groups_add(struct metric_groups *groups, struct labels *labels, uint32_t number,
                       int64_t user_ns, int64_t system_ns, int64_t now_ns);

/* A reading is complete: brings the rest up to date, and frees places. */
void metric_groups_settle(struct metric_groups *groups, struct labels *labels,
                          const struct scan *scan);

/* All labels were forgotten; the places keep their names and counts. */
void metric_groups_relabel(struct metric_groups *groups, struct labels *labels);

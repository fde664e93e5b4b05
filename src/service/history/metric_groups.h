/* The groups of /metrics: a limited number, for the names that use the most CPU.
 *
 * A name becomes a group, and is counted from this reading on, when it has used enough CPU: from
 * 10 ms to 5 s, more as fewer places are left, so that a host with hundreds of idle names keeps
 * room for later ones. What the rest includes already stays there. A group ends after an idle hour,
 * if it has no process left or another name needs the place.
 *
 * The rest is what the machine used beyond the groups, so it includes processes that no reading
 * saw. No counter ever decreases: the series of a former group ends, and is not added to the
 * rest. */
#pragma once
#include "service/history/history.h"
#include "service/history/labels.h"

#include <stdint.h>

struct metric_group {
    uint32_t label; /* 0: free */
    bool is_idle;   /* for an hour */
    uint8_t name_length;
    char name[NAME_LIMIT];
    int64_t user_ns, system_ns;
    int64_t hour_at_ns, hour_used_ns; /* start of this hour (CLOCK_MONOTONIC), and the total then */
};

struct metric_groups {
    struct metric_group groups[METRIC_GROUPS];
    uint32_t count;
    bool is_wanted; /* a name found no place */
    bool has_begun;
    uint32_t settled;                       /* how often the rest was updated */
    int64_t user_ns, system_ns;             /* of all groups, current and former */
    int64_t begun_user_ns, begun_system_ns; /* of the machine before the first reading */
    int64_t rest_user_ns, rest_system_ns;
};

/* Adds CPU time that a label used. */
void metric_groups_add(struct metric_groups *groups, struct labels *labels, uint32_t number,
                       int64_t user_ns, int64_t system_ns, int64_t now_ns);

/* After a reading: updates the rest and ends idle groups. */
void metric_groups_settle(struct metric_groups *groups, struct labels *labels,
                          const struct scan *scan);

/* Call it after all labels were forgotten: groups keep their names and counts. */
void metric_groups_relabel(struct metric_groups *groups, struct labels *labels);

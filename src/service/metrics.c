#include "service/metrics.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static void expose_mode(struct exposition *exposition, const char *mode, int64_t ns) {
    exposition_sample(exposition, "");
    exposition_label(exposition, "mode", mode);
    exposition_seconds(exposition, ns);
}

static void expose_scan(const struct scan *scan, struct exposition *exposition) {
    exposition_family(exposition, METRIC_COUNTER, "regatta_cpu_seconds", "seconds",
                      "CPU time of the whole machine since boot, by the kernel's count.");
    expose_mode(exposition, "user", scan->user_ns);
    expose_mode(exposition, "system", scan->system_ns);
    exposition_one(exposition, METRIC_GAUGE, "regatta_tasks", NULL,
                   "Processes that the newest reading saw.", scan->seen);
    exposition_one(exposition, METRIC_GAUGE, "regatta_tasks_lost", NULL,
                   "Processes that the newest reading is known to have missed.", scan->lost);
    exposition_family(exposition, METRIC_GAUGE, "regatta_snapshot_timestamp_seconds", "seconds",
                      "Unix time of the newest reading.");
    exposition_sample(exposition, "");
    exposition_seconds(exposition, scan->taken_at_ns);
}

/* The rest has no label, which Prometheus takes for an empty one: no name can be that. */
static void add_group(struct exposition *exposition, const struct history_group *group,
                      bool is_rest) {
    exposition_sample(exposition, "");
    if (!is_rest)
        exposition_label_bytes(exposition, "group", group->name, group->name_length);
}

static void expose_group_cpu(struct exposition *exposition, const struct history_group *group,
                             bool is_rest) {
    add_group(exposition, group, is_rest);
    exposition_label(exposition, "mode", "user");
    exposition_seconds(exposition, group->user_ns);
    add_group(exposition, group, is_rest);
    exposition_label(exposition, "mode", "system");
    exposition_seconds(exposition, group->system_ns);
}

static void expose_groups(const struct metrics *metrics, struct exposition *exposition) {
    exposition_family(exposition, METRIC_COUNTER, "regatta_group_cpu_seconds", "seconds",
                      "CPU time by process name; without a group: all other processes.");
    for (unsigned i = 0; i < metrics->group_count; i++)
        expose_group_cpu(exposition, &metrics->groups[i], false);
    expose_group_cpu(exposition, metrics->rest, true);

    exposition_family(exposition, METRIC_GAUGE, "regatta_group_processes", NULL,
                      "Living processes by name; without a group: all others.");
    for (unsigned i = 0; i < metrics->group_count; i++) {
        add_group(exposition, &metrics->groups[i], false);
        exposition_count(exposition, metrics->groups[i].processes);
    }
    add_group(exposition, metrics->rest, true);
    exposition_count(exposition, metrics->rest->processes);
}

static void expose_source(const struct metrics *metrics, struct exposition *exposition) {
    exposition_family(exposition, METRIC_INFO, "regatta_source", NULL,
                      "Where process times are read from, and why.");
    exposition_sample(exposition, "");
    exposition_label(exposition, "source", metrics->source);
    exposition_label_bytes(exposition, "reason", metrics->reason, strlen(metrics->reason));
    exposition_count(exposition, 1);
}

void metrics_expose(const struct metrics *metrics, struct exposition *exposition) {
    if (metrics->scan != NULL) {
        expose_groups(metrics, exposition);
        expose_scan(metrics->scan, exposition);
    }
    exposition_one(exposition, METRIC_GAUGE, "regatta_cpus", NULL, "CPUs of the machine.",
                   metrics->cpus);
    expose_source(metrics, exposition);
    tally_expose(metrics->tally, exposition);
}

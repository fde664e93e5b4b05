#include "server/metrics/metrics.h"

#include "server/metrics/exposition.h"
#include "server/metrics/resources.h"

#include <stdio.h>
#include <string.h>

static void expose_mode(struct exposition *exposition, const char *mode, int64_t ns) {
    exposition_sample(exposition, "");
    exposition_label(exposition, "mode", mode);
    exposition_seconds(exposition, ns);
}

static void expose_machine(const struct scan *scan, struct exposition *exposition) {
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

/* The rest has no label, which to Prometheus is the same as an empty one: no group has that. */
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

static void expose_groups(const struct service_facts *facts, struct exposition *exposition) {
    exposition_family(exposition, METRIC_COUNTER, "regatta_group_cpu_seconds", "seconds",
                      "CPU time by process name; without a group: all other processes.");
    for (unsigned i = 0; i < facts->group_count; i++)
        expose_group_cpu(exposition, &facts->groups[i], false);
    expose_group_cpu(exposition, &facts->rest, true);

    exposition_family(exposition, METRIC_GAUGE, "regatta_group_processes", NULL,
                      "Living processes by name; without a group: all others.");
    for (unsigned i = 0; i < facts->group_count; i++) {
        add_group(exposition, &facts->groups[i], false);
        exposition_count(exposition, facts->groups[i].processes);
    }
    add_group(exposition, &facts->rest, true);
    exposition_count(exposition, facts->rest.processes);
}

static void expose_source(const struct service_facts *facts, struct exposition *exposition) {
    exposition_family(exposition, METRIC_INFO, "regatta_source", NULL,
                      "Where process times are read from, and why.");
    exposition_sample(exposition, "");
    exposition_label(exposition, "source", facts->source);
    exposition_label_bytes(exposition, "reason", facts->reason, strlen(facts->reason));
    exposition_count(exposition, 1);
}

static uint64_t load(const _Atomic uint64_t *counter) {
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void add_duration(struct exposition *exposition, const char *suffix, const char *source) {
    exposition_sample(exposition, suffix);
    exposition_label(exposition, "source", source);
}

/* Buckets are cumulative. The total is their sum, not a counter of its own, so the two agree. */
static void expose_durations_of(const struct tally_source *tally, const char *source,
                                struct exposition *exposition) {
    uint64_t count = 0;
    for (unsigned bucket = 0; bucket < TALLY_BUCKETS; bucket++) {
        count += load(&tally->took[bucket]);
        add_duration(exposition, "_bucket", source);
        exposition_label(exposition, "le", tally_buckets[bucket].text);
        exposition_count(exposition, count);
    }
    add_duration(exposition, "_count", source);
    exposition_count(exposition, count);
    add_duration(exposition, "_sum", source);
    exposition_seconds(exposition, (int64_t)load(&tally->ns));
}

/* A source that has never been used has no series. */
static void expose_durations(const struct tally *tally, struct exposition *exposition) {
    exposition_family(exposition, METRIC_HISTOGRAM, "regatta_scan_duration_seconds", "seconds",
                      "Duration of complete readings of all processes.");
    for (unsigned i = 0; i < TALLY_SOURCES; i++)
        if (load(&tally->of[i].ns) > 0)
            expose_durations_of(&tally->of[i], tally_sources[i], exposition);
    exposition_one(exposition, METRIC_COUNTER, "regatta_scan_failures", NULL,
                   "Failed readings, for instance because descriptors ran out.",
                   load(&tally->failures));
}

void metrics_of_processes(const struct service_facts *facts, struct exposition *exposition) {
    if (facts->is_read) {
        expose_groups(facts, exposition);
        expose_machine(&facts->scan, exposition);
    }
    exposition_one(exposition, METRIC_GAUGE, "regatta_cpus", NULL, "CPUs of the machine.",
                   facts->cpus);
    expose_source(facts, exposition);
    expose_durations(facts->tally, exposition);
}

static void expose_build(const struct server *server, struct exposition *exposition) {
    exposition_family(exposition, METRIC_INFO, "regatta_build", NULL,
                      "The server's version and how it was started.");
    exposition_sample(exposition, "");
    exposition_label(exposition, "version", REGATTA_VERSION);
    exposition_label(exposition, "design", server->options->design->name);
    exposition_label(exposition, "work", server->options->work.text);
    exposition_count(exposition, 1);
}

static uint64_t replies(const struct stats *stats, unsigned index, unsigned dialect) {
    uint64_t count = stats_read(&stats->loop.replies[index][dialect]);
    for (unsigned i = 0; i < stats->worker_count; i++)
        count += stats_read(&stats->workers[i].replies[index][dialect]);
    return count;
}

/* All series exist from the start: rate() would miss the first count of one that appears later. */
static void expose_requests(const struct stats *stats, struct exposition *exposition) {
    static const char *const dialects[STATS_DIALECTS] = {"line", "http"};
    exposition_family(exposition, METRIC_COUNTER, "regatta_requests", NULL,
                      "Answered requests, by dialect and status.");
    for (unsigned dialect = 0; dialect < STATS_DIALECTS; dialect++)
        for (unsigned index = 0; index < STATS_STATUSES; index++) {
            char status[16];
            snprintf(status, sizeof status, "%d", (int)stats_statuses[index]);
            exposition_sample(exposition, "");
            exposition_label(exposition, "dialect", dialects[dialect]);
            exposition_label(exposition, "status", status);
            exposition_count(exposition, replies(stats, index, dialect));
        }
}

static void expose_connections(const struct server *server, struct exposition *exposition) {
    const struct stats *stats = server->stats;
    exposition_one(exposition, METRIC_GAUGE, "regatta_connections_open", NULL, "Open connections.",
                   stats_open(stats));
    exposition_one(exposition, METRIC_GAUGE, "regatta_connections_limit", NULL,
                   "Limit of open connections (--max-connections).",
                   server->options->max_connections);
    exposition_one(exposition, METRIC_COUNTER, "regatta_connections", NULL, "Accepted connections.",
                   stats_read(&stats->connections));
    exposition_one(exposition, METRIC_COUNTER, "regatta_connections_refused", NULL,
                   "Connections refused because the server was full.",
                   stats_read(&stats->errors[ERROR_REFUSED]));
    exposition_one(exposition, METRIC_COUNTER, "regatta_denials", NULL,
                   "Clients refused because of their address, their Host or their token.",
                   stats_read(&stats->errors[ERROR_DENIED]));
    exposition_one(exposition, METRIC_COUNTER, "regatta_wrong_tokens", NULL,
                   "Wrong tokens; an address that sends many is refused for a while.",
                   stats_read(&stats->wrong_tokens));
    exposition_one(exposition, METRIC_COUNTER, "regatta_connections_lost", NULL,
                   "Clients that disconnected before their reply was sent.",
                   stats_read(&stats->errors[ERROR_DISCONNECTED]));
    exposition_one(exposition, METRIC_COUNTER, "regatta_accept_failures", NULL,
                   "Connections that could not be accepted.",
                   stats_read(&stats->errors[ERROR_ACCEPT]));
    exposition_one(exposition, METRIC_COUNTER, "regatta_workers_replaced", NULL,
                   "Worker processes that died and were replaced.", stats_read(&stats->replaced));
}

static void expose_seconds(struct exposition *exposition, enum metric_type type, const char *name,
                           const char *help, int64_t ns) {
    exposition_family(exposition, type, name, "seconds", help);
    exposition_sample(exposition, "");
    exposition_seconds(exposition, ns);
}

/* The standard names of Prometheus for every process. Unknown values are left out. */
static void expose_process(struct stats *stats, struct exposition *exposition) {
    uint64_t resident = resources_resident_bytes(stats), files = resources_open_files();
    expose_seconds(exposition, METRIC_COUNTER, "process_cpu_seconds",
                   "CPU time of the server, all of its processes together.",
                   resources_cpu_ns(stats));
    expose_seconds(exposition, METRIC_GAUGE, "process_start_time_seconds",
                   "Unix time when the server was started.", stats->started_at_ns);
    if (resident > 0)
        exposition_one(exposition, METRIC_GAUGE, "process_resident_memory_bytes", "bytes",
                       "Memory of the server, including what its workers do not share.", resident);
    if (files > 0)
        exposition_one(exposition, METRIC_GAUGE, "process_open_fds", NULL,
                       "Open descriptors of the process that answers.", files);
    exposition_one(exposition, METRIC_GAUGE, "process_max_fds", NULL, "Limit of open descriptors.",
                   resources_files_limit());
}

void metrics_write(const struct server *server, enum format format, struct text *body) {
    struct exposition exposition = {.out = body, .is_openmetrics = format == FORMAT_OPENMETRICS};
    struct service_facts facts;
    service_facts(server->service, &facts);
    metrics_of_processes(&facts, &exposition);
    expose_build(server, &exposition);
    expose_requests(server->stats, &exposition);
    expose_connections(server, &exposition);
    expose_process(server->stats, &exposition);
    if (exposition.is_openmetrics)
        text_add_string(body, "# EOF\n");
}

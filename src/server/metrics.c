#include "server/metrics.h"

#include "server/resources.h"
#include "service/exposition.h"

#include <stdio.h>

static void expose_build(const struct server *server, struct exposition *exposition) {
    exposition_family(exposition, METRIC_INFO, "regatta_build", NULL,
                      "The server's version, and how it was started.");
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

/* All of them, from the start: a rate over one that appears later would miss its first. */
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
                   "Clients refused for their address, or a missing or wrong token.",
                   stats_read(&stats->errors[ERROR_DENIED]));
    exposition_one(exposition, METRIC_COUNTER, "regatta_connections_lost", NULL,
                   "Clients that went away before their reply was sent.",
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

/* Named as every program names them that Prometheus asks. What cannot be told is left out. */
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

void server_metrics(const struct server *server, enum format format, struct text *body) {
    struct exposition exposition = {.out = body, .is_openmetrics = format == FORMAT_OPENMETRICS};
    expose_build(server, &exposition);
    expose_requests(server->stats, &exposition);
    expose_connections(server, &exposition);
    expose_process(server->stats, &exposition);
    if (exposition.is_openmetrics)
        text_add_string(body, "# EOF\n");
}

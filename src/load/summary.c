#include "load/summary.h"

#include "base/clock.h"
#include "load/show.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static void add_sample(struct summary *summary, const struct sample *sample, int64_t *latencies,
                       int64_t *first_bytes) {
    uint32_t error = sample->error < OUTCOME_COUNT ? sample->error : OUTCOME_MALFORMED;
    summary->errors[error]++;
    if (error == OUTCOME_ANSWERED) {
        latencies[summary->answered] = sample->end_ns - sample->start_ns;
        first_bytes[summary->answered] = sample->first_byte_ns - sample->start_ns;
        summary->answered++;
    }
}

int summary_make(const struct load *load, struct summary *summary) {
    int64_t first_ns = INT64_MAX, last_ns = 0;
    for (uint32_t i = 0; i < load->worker_count; i++)
        summary->requests += load->workers[i].samples.count;
    size_t room = summary->requests > 0 ? summary->requests : 1;
    int64_t *latencies = malloc(room * sizeof *latencies);
    int64_t *first_bytes = malloc(room * sizeof *first_bytes);
    if (latencies == NULL || first_bytes == NULL) {
        free(latencies);
        free(first_bytes);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < load->worker_count; i++) {
        const struct worker *worker = &load->workers[i];
        for (size_t j = 0; j < worker->samples.count; j++) {
            const struct sample *sample = &worker->samples.records[j];
            add_sample(summary, sample, latencies, first_bytes);
            first_ns = sample->start_ns < first_ns ? sample->start_ns : first_ns;
            last_ns = sample->end_ns > last_ns ? sample->end_ns : last_ns;
        }
        summary->connections_opened += worker->connections_opened;
        summary->bytes_received += worker->bytes_received;
        summary->full |= worker->full;
        if (summary->problem == NULL && worker->problem[0] != '\0')
            summary->problem = worker->problem;
    }
    if (summary->requests > 0)
        summary->elapsed_ns = last_ns - first_ns;
    if (summary->elapsed_ns > 0)
        summary->throughput_per_s =
            (double)summary->answered * NS_PER_S / (double)summary->elapsed_ns;
    summary->latency = distribution_of(latencies, summary->answered);
    summary->first_byte = distribution_of(first_bytes, summary->answered);
    free(latencies);
    free(first_bytes);
    return 0;
}

static void add_bytes(struct text *text, uint64_t bytes) {
    static const char *const UNITS[] = {"bytes", "kB", "MB", "GB", "TB"};
    double amount = (double)bytes;
    size_t unit = 0;
    for (; unit < 4 && amount >= 999.5; unit++)
        amount /= 1000;
    text_addf(text, "%.*f %s", unit == 0 || amount >= 99.95 ? 0 : 1, amount, UNITS[unit]);
}

static void add_distribution(struct text *text, const char *title,
                             const struct distribution *values) {
    const struct {
        const char *name;
        int64_t ns;
    } columns[] = {
        {"p50", values->p50}, {"p90", values->p90}, {"p99", values->p99}, {"max", values->max}};
    text_addf(text, "  %-11s", title);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        text_addf(text, "%s %s ", i == 0 ? "" : "  ", columns[i].name);
        text_add_duration(text, (double)columns[i].ns);
    }
    text_add_string(text, "\n");
}

static const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

void summary_add_text(struct text *text, const struct load *load, const struct summary *summary) {
    text_addf(text, "%" PRIu64 " request%s to %s over %" PRIu64 " connection%s (%s, %s, %s): ",
              summary->requests, plural(summary->requests), load->target,
              summary->connections_opened, plural(summary->connections_opened),
              load->shape == SHAPE_BURST ? "burst" : "closed", load->engine->name,
              load->dialect == DIALECT_LINE ? "line" : "http");
    if (summary->answered == summary->requests) {
        text_add_string(text, summary->requests == 0   ? "none finished"
                              : summary->requests == 1 ? "answered"
                                                       : "all answered");
    } else {
        text_addf(text, "%" PRIu64 " answered", summary->answered);
        for (enum outcome kind = OUTCOME_CONNECT; kind < OUTCOME_COUNT; kind++)
            if (summary->errors[kind] > 0)
                text_addf(text, ", %" PRIu64 " %s", summary->errors[kind], outcome_name(kind));
    }
    text_add_string(text, "\n  elapsed    ");
    text_add_duration(text, (double)summary->elapsed_ns);
    text_addf(text, ", %.*f answers/s, ", summary->throughput_per_s < 99.95 ? 1 : 0,
              summary->throughput_per_s);
    add_bytes(text, summary->bytes_received);
    text_add_string(text, " received\n");
    if (summary->answered > 0) {
        add_distribution(text, "latency", &summary->latency);
        /* Most replies come in one piece: the same numbers twice would say nothing. */
        if (summary->first_byte.p50 != summary->latency.p50)
            add_distribution(text, "first byte", &summary->first_byte);
    }
}

static void add_json_distribution(struct text *text, const char *name,
                                  const struct distribution *values) {
    text_addf(text, "\"%s\": ", name);
    if (values->count == 0) {
        text_add_string(text, "{\"min\": null, \"mean\": null, \"p50\": null, \"p90\": null, "
                              "\"p99\": null, \"p99_9\": null, \"max\": null}");
        return;
    }
    text_addf(text,
              "{\"min\": %" PRId64 ", \"mean\": %.1f, \"p50\": %" PRId64 ", \"p90\": %" PRId64
              ", \"p99\": %" PRId64 ", \"p99_9\": %" PRId64 ", \"max\": %" PRId64 "}",
              values->min, values->mean, values->p50, values->p90, values->p99, values->p99_9,
              values->max);
}

void summary_add_json(struct text *text, const struct load *load, const struct summary *summary) {
    text_addf(text,
              "{\"target\": \"%s\", \"engine\": \"%s\", \"load\": \"%s\", \"dialect\": \"%s\",\n"
              " \"connections\": %" PRIu32 ", ",
              load->target, load->engine->name, load->shape == SHAPE_BURST ? "burst" : "closed",
              load->dialect == DIALECT_LINE ? "line" : "http", load->connections);
    if (load->shape == SHAPE_BURST)
        text_addf(text, "\"rounds\": %" PRIu32 ", ", load->rounds);
    else
        text_addf(text, "\"duration_ns\": %" PRId64 ", \"per_connection\": %" PRIu32 ", ",
                  load->duration_ns, load->per_connection);
    text_addf(text, "\"requests\": %" PRIu64 ", \"answered\": %" PRIu64 ",\n \"errors\": {",
              summary->requests, summary->answered);
    for (enum outcome kind = OUTCOME_CONNECT; kind < OUTCOME_COUNT; kind++)
        text_addf(text, "%s\"%s\": %" PRIu64, kind == OUTCOME_CONNECT ? "" : ", ",
                  outcome_name(kind), summary->errors[kind]);
    text_addf(text,
              "},\n \"connections_opened\": %" PRIu64 ", \"bytes_received\": %" PRIu64
              ",\n \"elapsed_ns\": %" PRId64 ", \"throughput_per_s\": %.1f,\n ",
              summary->connections_opened, summary->bytes_received, summary->elapsed_ns,
              summary->throughput_per_s);
    add_json_distribution(text, "latency_ns", &summary->latency);
    text_add_string(text, ",\n ");
    add_json_distribution(text, "first_byte_ns", &summary->first_byte);
    text_add_string(text, ",\n \"usage\": {\"self\": ");
    usage_add_json(text, summary->self);
    text_add_string(text, ",\n           \"children\": ");
    usage_add_json(text, summary->children);
    text_add_string(text, "}}\n");
}

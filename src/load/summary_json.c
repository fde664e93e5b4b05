/* The summary for programs; docs/formats.md says what each field means. */
#include "load/summary.h"

#include <inttypes.h>
#include <string.h>

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
              load->target, load->engine->name, shape_name(load->shape),
              load->dialect == DIALECT_LINE ? "line" : "http", load->connections);
    if (load->shape == SHAPE_BURST)
        text_addf(text, "\"rounds\": %" PRIu32 ", ", load->rounds);
    else
        text_addf(text, "\"duration_ns\": %" PRId64 ", \"per_connection\": %" PRIu32 ", ",
                  load->duration_ns, load->per_connection);
    if (load->shape == SHAPE_OPEN)
        text_addf(text,
                  "\n \"rate_per_s\": %.12g, \"arrivals\": \"%s\", \"achieved_per_s\": %.1f, "
                  "\"unstarted\": %" PRIu64 ",\n ",
                  load->rate_per_s, arrivals_name(load->arrivals), summary->achieved_per_s,
                  summary->unstarted);
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
    text_add_string(text, ",\n ");
    add_json_distribution(text, "late_ns", &summary->late);
    text_addf(text, ",\n \"cpu_share\": %.4f, \"client_bound\": ", summary->cpu_share);
    if (summary->client_bound[0] != '\0')
        text_add_json_string(text, summary->client_bound, strlen(summary->client_bound));
    else
        text_add_string(text, "null");
    text_addf(text,
              ",\n \"idle\": %" PRIu32 ", \"idle_lost\": %" PRIu64 ", \"slow\": %" PRIu32
              ", \"slow_requests\": %" PRIu64 ", \"slow_lost\": %" PRIu64,
              load->idle_count, summary->idle_lost, load->slow_count, summary->slow_requests,
              summary->slow_lost);
    text_add_string(text, ",\n \"usage\": {\"self\": ");
    usage_add_json(text, summary->self);
    text_add_string(text, ",\n           \"children\": ");
    usage_add_json(text, summary->children);
    text_add_string(text, "}}\n");
}

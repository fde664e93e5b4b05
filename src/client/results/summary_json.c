/* The summary for programs; docs/formats.md says what each field means. */
#include "client/results/summary.h"

#include <inttypes.h>
#include <string.h>

struct quantile {
    const char *name;
    unsigned permille;
    int64_t ns;
};

/* Known percentiles are numbers; the others are null, with their lower bounds in "over". */
static void add_json_quantiles(struct text *text, const struct distribution *values,
                               const struct quantile *quantiles, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (values->count == 0 || distribution_is_over(values, quantiles[i].permille))
            text_addf(text, ", \"%s\": null", quantiles[i].name);
        else
            text_addf(text, ", \"%s\": %" PRId64, quantiles[i].name, quantiles[i].ns);
    }
    text_add_string(text, ", \"over\": {");
    if (values->at_least > 0)
        text_addf(text, "\"mean\": %.1f", values->mean);
    for (size_t i = 0; i < count; i++)
        if (values->at_least > 0 && distribution_is_over(values, quantiles[i].permille))
            text_addf(text, ", \"%s\": %" PRId64, quantiles[i].name, quantiles[i].ns);
    text_add_string(text, "}}");
}

static void add_json_distribution(struct text *text, const char *name,
                                  const struct distribution *values) {
    const struct quantile quantiles[] = {{"p50", 500, values->p50},
                                         {"p90", 900, values->p90},
                                         {"p99", 990, values->p99},
                                         {"p99_9", 999, values->p99_9},
                                         {"max", 1000, values->max}};
    text_addf(text, "\"%s\": {\"min\": ", name);
    if (values->count > values->at_least)
        text_addf(text, "%" PRId64, values->min);
    else
        text_add_string(text, "null");
    if (values->count > 0 && values->at_least == 0)
        text_addf(text, ", \"mean\": %.1f", values->mean);
    else
        text_add_string(text, ", \"mean\": null");
    add_json_quantiles(text, values, quantiles, sizeof quantiles / sizeof *quantiles);
}

static void add_json_words(struct text *text, const char *words) {
    if (words[0] != '\0')
        text_add_json_string(text, words, strlen(words));
    else
        text_add_string(text, "null");
}

void summary_add_json(struct text *text, const struct load *load, const struct summary *summary) {
    text_addf(text,
              "{\"target\": \"%s\", \"engine\": \"%s\", \"load\": \"%s\", \"dialect\": \"%s\",\n"
              " \"connections\": %" PRIu32 ", \"streams\": %" PRIu32 ", \"threads\": %" PRIu32 ", ",
              load->target, load->engine->name, shape_name(load->shape),
              load->dialect == DIALECT_LINE ? "line" : "http", load->connections, load->streams,
              load->worker_count);
    text_addf(text,
              "\"http2\": %s, \"websocket\": %s, \"tls\": ", load->is_http2 ? "true" : "false",
              load->is_websocket ? "true" : "false");
    add_json_words(text, summary->tls != NULL ? summary->tls : "");
    text_addf(text, ", \"resumed\": %" PRIu64 ",\n ", summary->resumed);
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
                  summary->outcomes[OUTCOME_UNSTARTED]);
    text_addf(text, "\"requests\": %" PRIu64 ", \"answered\": %" PRIu64 ",\n \"errors\": {",
              summary->requests, summary->answered);
    for (enum outcome kind = OUTCOME_CONNECT; kind < OUTCOME_COUNT; kind++)
        if (outcome_is_failure(kind))
            text_addf(text, "%s\"%s\": %" PRIu64, kind == OUTCOME_CONNECT ? "" : ", ",
                      outcome_name(kind), summary->outcomes[kind]);
    text_addf(text,
              "},\n \"connections_opened\": %" PRIu64 ", \"resent\": %" PRIu64
              ", \"bytes_received\": %" PRIu64 ",\n \"began_ns\": %" PRId64
              ", \"start_skew_ns\": %" PRId64 ", \"elapsed_ns\": %" PRId64
              ", \"throughput_per_s\": %.1f,\n ",
              summary->connections_opened, summary->resent, summary->bytes_received,
              summary->began_ns, summary->skew_ns, summary->elapsed_ns, summary->throughput_per_s);
    add_json_distribution(text, "latency_ns", &summary->latency);
    text_add_string(text, ",\n ");
    add_json_distribution(text, "first_byte_ns", &summary->first_byte);
    text_add_string(text, ",\n ");
    add_json_distribution(text, "late_ns", &summary->late);
    text_addf(text, ",\n \"events\": %zu, ",
              summary->first_event.count - summary->first_event.at_least +
                  summary->next_event.count - summary->next_event.at_least);
    add_json_distribution(text, "first_event_ns", &summary->first_event);
    text_add_string(text, ",\n ");
    add_json_distribution(text, "next_event_ns", &summary->next_event);
    text_addf(text, ",\n \"cpu_share\": %.4f, \"client_bound\": ", summary->cpu_share);
    add_json_words(text, summary->client_bound);
    text_add_string(text, ",\n \"problem\": ");
    add_json_words(text, summary->problem != NULL ? summary->problem : "");
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

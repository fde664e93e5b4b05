#include "client/results/summary.h"

#include "base/clock.h"
#include "client/results/client_bound.h"
#include "client/results/duration.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct latencies {
    int64_t *whole, *first_byte;
    size_t count;
};

static void count_sample(struct summary *summary, const struct sample *sample, int64_t *first_ns,
                         int64_t *last_ns) {
    summary->outcomes[sample->error < OUTCOME_COUNT ? sample->error : OUTCOME_MALFORMED]++;
    if (sample->error == OUTCOME_UNSTARTED)
        return;
    summary->requests++;
    *first_ns = sample->start_ns < *first_ns ? sample->start_ns : *first_ns;
    *last_ns = sample->end_ns > *last_ns ? sample->end_ns : *last_ns;
}

static void add_latencies(const struct load *load, struct latencies *latencies,
                          enum outcome outcome) {
    for (uint32_t i = 0; i < load->worker_count; i++) {
        const struct samples *samples = &load->workers[i].samples;
        for (size_t j = 0; j < samples->count; j++) {
            const struct sample *sample = &samples->records[j];
            if (sample->error != outcome)
                continue;
            int64_t first_ns = sample->first_byte_ns != 0 ? sample->first_byte_ns : sample->end_ns;
            latencies->whole[latencies->count] = sample->end_ns - sample->start_ns;
            latencies->first_byte[latencies->count++] = first_ns - sample->start_ns;
        }
    }
}

/* Returns 0 or -ENOMEM. */
static int sum_up_latencies(const struct load *load, struct summary *summary) {
    size_t known = summary->outcomes[OUTCOME_ANSWERED];
    size_t at_least = summary->outcomes[OUTCOME_TIMEOUT] + summary->outcomes[OUTCOME_UNSTARTED];
    size_t room = (known + at_least) * sizeof(int64_t);
    struct latencies latencies = {.whole = malloc(room), .first_byte = malloc(room)};
    bool enough = room == 0 || (latencies.whole != NULL && latencies.first_byte != NULL);
    if (enough) {
        add_latencies(load, &latencies, OUTCOME_ANSWERED);
        add_latencies(load, &latencies, OUTCOME_TIMEOUT);
        add_latencies(load, &latencies, OUTCOME_UNSTARTED);
        summary->latency = distribution_of(latencies.whole, known, at_least);
        summary->first_byte = distribution_of(latencies.first_byte, known, at_least);
    }
    free(latencies.whole);
    free(latencies.first_byte);
    return enough ? 0 : -ENOMEM;
}

/* The struct times at this offset of struct worker. */
static struct times times_of(const struct load *load, uint32_t worker, size_t offset) {
    struct times times;
    memcpy(&times, (const char *)&load->workers[worker] + offset, sizeof times);
    return times;
}

/* Of all workers. Returns 0 or -ENOMEM. */
static int sum_up_times(const struct load *load, size_t offset, struct distribution *whole) {
    size_t count = 0, known = 0, bounds = 0;
    for (uint32_t i = 0; i < load->worker_count; i++)
        count += times_of(load, i, offset).count;
    int64_t *all = count > 0 ? malloc(count * sizeof *all) : NULL;
    if (count > 0 && all == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; count > 0 && i < load->worker_count; i++) {
        const struct times times = times_of(load, i, offset);
        for (size_t j = 0; j < times.count; j++) {
            if (times.ns[j] < 0)
                all[count - ++bounds] = -times.ns[j];
            else
                all[known++] = times.ns[j];
        }
    }
    *whole = distribution_of(all, known, bounds);
    free(all);
    return 0;
}

/* How late requests and events were. Returns 0 or -ENOMEM. */
static int sum_up_all_times(const struct load *load, struct summary *summary) {
    int outcome = sum_up_times(load, offsetof(struct worker, lateness.own), &summary->late);
    if (outcome == 0)
        outcome = sum_up_times(load, offsetof(struct worker, first_events), &summary->first_event);
    if (outcome == 0)
        outcome = sum_up_times(load, offsetof(struct worker, next_events), &summary->next_event);
    if (load->cost.wall_ns > 0)
        summary->achieved_per_s =
            (double)summary->late.count * NS_PER_S / (double)load->cost.wall_ns;
    return outcome;
}

static void sum_up_client(const struct load *load, struct summary *summary) {
    int64_t first_ns = INT64_MAX, last_ns = 0;
    for (uint32_t i = 0; i < load->worker_count; i++) {
        const int64_t began_ns = load->workers[i].began_ns;
        if (began_ns == 0)
            continue; /* another engine, or interrupted before it began */
        first_ns = began_ns < first_ns ? began_ns : first_ns;
        last_ns = began_ns > last_ns ? began_ns : last_ns;
    }
    summary->skew_ns = last_ns > 0 ? last_ns - first_ns : 0;
    summary->cpu_share = client_bound_cpu_share(load);
    struct text why = text_fixed(summary->client_bound, sizeof summary->client_bound - 1);
    client_bound_explain(load, &why);
}

int summary_make(const struct load *load, struct summary *summary) {
    int64_t first_ns = INT64_MAX, last_ns = 0;
    for (uint32_t i = 0; i < load->worker_count; i++) {
        const struct worker *worker = &load->workers[i];
        for (size_t j = 0; j < worker->samples.count; j++)
            count_sample(summary, &worker->samples.records[j], &first_ns, &last_ns);
        summary->connections_opened += worker->connections_opened;
        summary->resent += worker->resent;
        summary->resumed += worker->resumed;
        if (summary->tls == NULL && worker->tls[0] != '\0')
            summary->tls = worker->tls;
        summary->idle_lost += worker->idle_lost;
        summary->slow_requests += worker->slow_requests;
        summary->slow_lost += worker->slow_lost;
        summary->bytes_received += worker->bytes_received;
        summary->full |= worker->full;
        if (summary->problem == NULL && worker->problem[0] != '\0')
            summary->problem = worker->problem;
    }
    summary->answered = summary->outcomes[OUTCOME_ANSWERED];
    if (summary->requests > 0)
        summary->elapsed_ns = last_ns - first_ns;
    if (summary->elapsed_ns > 0)
        summary->throughput_per_s =
            (double)summary->answered * NS_PER_S / (double)summary->elapsed_ns;
    sum_up_client(load, summary);
    int outcome = sum_up_all_times(load, summary);
    return outcome == 0 ? sum_up_latencies(load, summary) : outcome;
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
        unsigned permille;
        int64_t ns;
    } columns[] = {{"p50", 500, values->p50},
                   {"p90", 900, values->p90},
                   {"p99", 990, values->p99},
                   {"max", 1000, values->max}};
    text_addf(text, "  %-11s", title);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        text_addf(text, "%s %s %s", i == 0 ? "" : "  ", columns[i].name,
                  distribution_is_over(values, columns[i].permille) ? "> " : "");
        text_add_duration(text, (double)columns[i].ns);
    }
    text_add_string(text, "\n");
}

static const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

static void add_rate(struct text *text, const struct load *load, const struct summary *summary) {
    uint64_t unstarted = summary->outcomes[OUTCOME_UNSTARTED];
    uint64_t due = summary->requests + unstarted;
    text_addf(text, "  rate       offered %g/s (%s), started %g/s", load->rate_per_s,
              arrivals_name(load->arrivals), round(summary->achieved_per_s * 10) / 10);
    if (unstarted > 0)
        text_addf(text, "; %" PRIu64 " due but not started", unstarted);
    text_add_string(text, "\n");
    if (!client_bound_rate_is_held(summary->requests, due))
        text_addf(text, "  does not hold the rate: started %.1f %% of what was due\n",
                  client_bound_started_percent(summary->requests, due));
    if (summary->late.count > 0)
        add_distribution(text, "late itself", &summary->late);
}

/* The idle and slow connections. */
static void add_unmeasured(struct text *text, const struct load *load,
                           const struct summary *summary) {
    if (load->idle_count > 0) {
        text_addf(text, "  idle       %" PRIu32 " connection%s", load->idle_count,
                  plural(load->idle_count));
        if (summary->idle_lost > 0)
            text_addf(text, "; the server closed %" PRIu64, summary->idle_lost);
        text_add_string(text, "\n");
    }
    if (load->slow_count > 0) {
        text_addf(text, "  slow       %" PRIu32 " connection%s, %" PRIu64 " request%s answered",
                  load->slow_count, plural(load->slow_count), summary->slow_requests,
                  plural(summary->slow_requests));
        if (summary->slow_lost > 0)
            text_addf(text, "; %" PRIu64 " connection%s lost", summary->slow_lost,
                      plural(summary->slow_lost));
        text_add_string(text, "\n");
    }
}

void summary_add_text(struct text *text, const struct load *load, const struct summary *summary) {
    text_addf(text, "%" PRIu64 " request%s to %s over %" PRIu64 " connection%s (%s, %s, %s): ",
              summary->requests, plural(summary->requests), load->target,
              summary->connections_opened, plural(summary->connections_opened),
              shape_name(load->shape), load->engine->name,
              load->dialect == DIALECT_LINE ? "line"
              : load->is_http2              ? "http/2"
              : load->is_websocket          ? "websocket"
                                            : "http");
    if (summary->answered == summary->requests) {
        text_add_string(text, summary->requests == 0   ? "none finished"
                              : summary->requests == 1 ? "answered"
                                                       : "all answered");
    } else {
        text_addf(text, "%" PRIu64 " answered", summary->answered);
        for (enum outcome kind = OUTCOME_CONNECT; kind < OUTCOME_COUNT; kind++)
            if (outcome_is_failure(kind) && summary->outcomes[kind] > 0)
                text_addf(text, ", %" PRIu64 " %s", summary->outcomes[kind], outcome_name(kind));
    }
    text_add_string(text, "\n  elapsed    ");
    text_add_duration(text, (double)summary->elapsed_ns);
    text_addf(text, ", %.*f answers/s, ", summary->throughput_per_s < 99.95 ? 1 : 0,
              summary->throughput_per_s);
    add_bytes(text, summary->bytes_received);
    text_add_string(text, " received\n");
    if (summary->resent > 0)
        text_addf(text,
                  "  resent     %" PRIu64
                  " request%s: the server had closed the connection without "
                  "saying so\n",
                  summary->resent, plural(summary->resent));
    if (summary->tls != NULL)
        text_addf(text,
                  "  TLS        %s, %" PRIu64 " of %" PRIu64 " handshakes resumed a session\n",
                  summary->tls, summary->resumed, summary->connections_opened);
    if (summary->latency.count > 0) {
        add_distribution(text, "latency", &summary->latency);
        /* Most replies arrive in one piece: the same numbers would appear twice. */
        if (summary->first_byte.p50 != summary->latency.p50)
            add_distribution(text, "first byte", &summary->first_byte);
    }
    if (summary->first_event.count > 0)
        add_distribution(text, "first event", &summary->first_event);
    if (summary->next_event.count > 0)
        add_distribution(text, "next event", &summary->next_event);
    if (load->shape == SHAPE_OPEN)
        add_rate(text, load, summary);
    add_unmeasured(text, load, summary);
    unsigned cpus = client_bound_cpus(load);
    text_addf(text, "  client     used %.0f %% of its CPU%s\n", 100 * summary->cpu_share,
              plural(cpus));
    if (summary->client_bound[0] != '\0')
        text_addf(text,
                  "  client-bound: the client %s;\n"
                  "  these numbers show its limit, not the server's\n",
                  summary->client_bound);
}

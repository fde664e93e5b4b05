#include "watch/figures.h"

#include "base/clock.h"
#include "watch/clean.h"

#include <inttypes.h>
#include <stdio.h>

enum { NS_PER_TENTH = NS_PER_S / 10, MINUTE_S = 60, HOUR_S = 3600, DAY_S = 86400 };

void figure_percent(int64_t cpu_ns, int64_t elapsed_ns, char text[FIGURE_LIMIT]) {
    /* Unsigned microseconds cannot overflow here, whatever a remote server sends. */
    uint64_t cpu_us = (uint64_t)cpu_ns / NS_PER_US, elapsed_us = (uint64_t)elapsed_ns / NS_PER_US;
    uint64_t tenths = (cpu_us * 1000 + elapsed_us / 2) / (elapsed_us > 0 ? elapsed_us : 1);
    snprintf(text, FIGURE_LIMIT, "%" PRIu64 ".%" PRIu64, tenths / 10, tenths % 10);
}

void figure_seconds(int64_t cpu_ns, char text[FIGURE_LIMIT]) {
    int64_t hundredths = cpu_ns / (NS_PER_S / 100);
    if (hundredths < (int64_t)100 * 100000)
        snprintf(text, FIGURE_LIMIT, "%lld.%02lld", (long long)hundredths / 100,
                 (long long)hundredths % 100);
    else
        snprintf(text, FIGURE_LIMIT, "%lld", (long long)hundredths / 100);
}

void figure_cpu(const struct answer *answer, int64_t cpu_ns, char text[FIGURE_LIMIT]) {
    if (answer->recent)
        figure_percent(cpu_ns, answer->elapsed_ns, text);
    else
        figure_seconds(cpu_ns, text);
}

void figure_duration(int64_t ns, char text[FIGURE_LIMIT]) {
    int64_t tenths = ns > 0 ? ns / NS_PER_TENTH : 0, seconds = tenths / 10;
    if (seconds < 10)
        snprintf(text, FIGURE_LIMIT, "%lld.%lld s", (long long)seconds, (long long)tenths % 10);
    else if (seconds < 2 * MINUTE_S)
        snprintf(text, FIGURE_LIMIT, "%lld s", (long long)seconds);
    else if (seconds < 2 * HOUR_S)
        snprintf(text, FIGURE_LIMIT, "%lld min", (long long)seconds / MINUTE_S);
    else if (seconds < (int64_t)2 * DAY_S)
        snprintf(text, FIGURE_LIMIT, "%lld h", (long long)seconds / HOUR_S);
    else
        snprintf(text, FIGURE_LIMIT, "%lld days", (long long)seconds / DAY_S);
}

/* Saturates: a remote server may send any figures. */
static void add_capped(int64_t *sum, int64_t more) {
    if (__builtin_add_overflow(*sum, more, sum))
        *sum = INT64_MAX;
}

bool figure_rest(const struct answer *answer, uint32_t rows, struct row *rest) {
    *rest = answer->rest;
    for (uint32_t i = rows; i < answer->count; i++) {
        const struct row *hidden = &answer->rows[i];
        add_capped(&rest->user_ns, hidden->user_ns);
        add_capped(&rest->system_ns, hidden->system_ns);
        if (rest->processes >= 0)
            add_capped(&rest->processes, hidden->processes >= 0 ? hidden->processes : 1);
    }
    return answer->has_rest;
}

void add_rest_name(struct text *out, const struct row *rest) {
    text_add_string(out, "(everything else");
    if (rest->processes >= 0)
        text_addf(out, ": %lld", (long long)rest->processes);
    text_add_string(out, ")");
}

void add_name(struct text *out, const struct host *host) {
    clean_add(out, host->answer.host[0] != '\0' ? host->answer.host : host->wanted);
}

void add_where(struct text *out, const struct host *host) {
    char where[ADDRESS_TEXT_LIMIT];
    host_where(host, where);
    clean_add(out, where);
}

void add_source(struct text *out, const struct host *host) {
    const struct answer *answer = &host->answer;
    if (host->answered_ns == 0)
        return;
    clean_add(out, answer->source);
    if (answer->tasks_seen >= 0)
        text_addf(out, ", %lld tasks", (long long)answer->tasks_seen);
    if (answer->tasks_lost >= 0)
        text_addf(out, ", %lld lost", (long long)answer->tasks_lost);
    if (answer->source_reason[0] != '\0') {
        text_add_string(out, " (");
        clean_add(out, answer->source_reason);
        text_add_string(out, ")");
    }
}

bool is_failing(const struct host *host) {
    return host->health == HEALTH_UNREACHABLE || host->health == HEALTH_FAILING;
}

/* The answer's age, and the time that it covers. */
static void add_age(struct text *out, const struct host *host, int64_t now_ns) {
    const struct answer *answer = &host->answer;
    char figure[FIGURE_LIMIT];
    int64_t age_ns = now_ns - host->answered_ns;
    if (answer->age_ms > 0 && answer->age_ms < INT64_MAX / NS_PER_MS / 2)
        age_ns += answer->age_ms * NS_PER_MS;
    figure_duration(age_ns, figure);
    text_addf(out, "%s old, ", figure);
    if (answer->recent) {
        figure_duration(answer->elapsed_ns, figure);
        text_addf(out, "over %s", figure);
    } else {
        text_add_string(out, "in total");
    }
    if (answer->group[0] != '\0') {
        text_add_string(out, ", by ");
        clean_add(out, answer->group);
    }
}

void add_state(struct text *out, const struct host *host, int64_t now_ns) {
    char figure[FIGURE_LIMIT];
    if (host->health == HEALTH_NEW) {
        text_add_string(out, "waiting for the first answer");
        return;
    }
    if (!is_failing(host)) {
        text_add_string(out, "ok, ");
        add_age(out, host, now_ns);
        return;
    }
    figure_duration(now_ns - host->failing_since_ns, figure);
    text_addf(out, "%s for %s: ", host->health == HEALTH_UNREACHABLE ? "UNREACHABLE" : "FAILING",
              figure);
    clean_add(out, host->reason);
    if (host->phase != PHASE_REST) {
        text_add_string(out, "; asking again");
    } else {
        figure_duration(host->retry_ns - now_ns, figure);
        text_addf(out, "; again in %s", figure);
    }
    if (host->answered_ns != 0) {
        text_add_string(out, "; below: ");
        add_age(out, host, now_ns);
    }
}

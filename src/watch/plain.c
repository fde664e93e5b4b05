#include "watch/plain.h"

#include "base/clock.h"
#include "watch/clean.h"
#include "watch/figures.h"

#include <stdio.h>
#include <time.h>

static void add_row(struct text *out, const struct answer *answer, unsigned rank,
                    const struct row *row) {
    char id[FIGURE_LIMIT] = "-", user[FIGURE_LIMIT], system[FIGURE_LIMIT];
    if (answer->group[0] != '\0' && row->processes >= 0)
        snprintf(id, sizeof id, "%lld", (long long)row->processes);
    else if (row->pid > 0)
        snprintf(id, sizeof id, "%lld", (long long)row->pid);
    figure_cpu(answer, row->user_ns, user);
    figure_cpu(answer, row->system_ns, system);
    if (rank > 0)
        text_addf(out, "  %4u %9s %10s %10s ", rank, id, user, system);
    else
        text_addf(out, "  %4s %9s %10s %10s ", "-", id, user, system);
}

static void add_table(struct text *out, const struct answer *answer) {
    bool grouped = answer->group[0] != '\0';
    struct row rest;
    text_addf(out, "  %4s %9s %10s %10s ", "rank", grouped ? "processes" : "pid",
              answer->recent ? "user%" : "user_s", answer->recent ? "system%" : "system_s");
    clean_add(out, grouped ? answer->group : "name");
    text_add_string(out, "\n");
    for (uint32_t i = 0; i < answer->count; i++) {
        add_row(out, answer, i + 1, &answer->rows[i]);
        clean_add(out, answer->rows[i].name);
        text_add_string(out, "\n");
    }
    if (figure_rest(answer, answer->count, &rest)) {
        add_row(out, answer, 0, &rest);
        add_rest_name(out, &rest);
        text_add_string(out, "\n");
    }
}

static void add_moment(struct text *out) {
    char moment[sizeof "2026-11-21 13:20:01"];
    time_t now = (time_t)(clock_unix_ns() / NS_PER_S);
    struct tm parts;
    localtime_r(&now, &parts);
    strftime(moment, sizeof moment, "%Y-%m-%d %H:%M:%S", &parts);
    text_add_string(out, moment);
}

void plain_add_table(struct text *out, const struct host *hosts, unsigned count, int64_t now_ns) {
    add_moment(out);
    text_add_string(out, "\n");
    for (const struct host *host = hosts; host < hosts + count; host++) {
        add_name(out, host);
        text_add_string(out, " (");
        add_where(out, host);
        text_add_string(out, "): ");
        add_state(out, host, now_ns);
        text_add_string(out, "\n");
        if (host->answered_ns == 0)
            continue;
        text_add_string(out, "  source ");
        add_source(out, host);
        text_add_string(out, "\n");
        /* A screen keeps a failing host's last answer; plain text has already printed it above. */
        if (!is_failing(host))
            add_table(out, &host->answer);
    }
    text_add_string(out, "\n");
}

/* Escapes a character for JSON: above U+FFFF as a surrogate pair. */
static void add_number_of(struct text *out, uint32_t code) {
    if (code > 0xFFFF)
        text_addf(out, "\\u%04x", 0xD7C0 + (code >> 10));
    text_addf(out, "\\u%04x", code > 0xFFFF ? 0xDC00 | (code & 0x3FF) : code);
}

static void add_string(struct text *out, const char *key, const char *string) {
    text_addf(out, "\"%s\": \"", key);
    for (size_t left = strlen(string); left > 0;) {
        size_t length = utf8_sequence(string, left);
        unsigned char c = (unsigned char)*string;
        if (length == 0)
            text_addf(out, "\\\\x%02x", c); /* like the service writes such a byte */
        else if (utf8_is_nonprinting(string, length))
            add_number_of(out, utf8_code(string, length));
        else if (c == '"' || c == '\\')
            text_add(out, (char[]){'\\', (char)c}, 2);
        else
            text_add(out, string, length);
        length += length == 0;
        string += length;
        left -= length;
    }
    text_add_string(out, "\"");
}

static void add_seconds(struct text *out, const char *key, int64_t ns) {
    if (ns < 0)
        text_addf(out, ", \"%s\": null", key);
    else
        text_addf(out, ", \"%s\": %lld.%06lld", key, (long long)ns / NS_PER_S,
                  (long long)ns % NS_PER_S / NS_PER_US);
}

static void add_whole(struct text *out, const char *key, int64_t number) {
    if (number < 0)
        text_addf(out, ", \"%s\": null", key);
    else
        text_addf(out, ", \"%s\": %lld", key, (long long)number);
}

static void add_json_rows(struct text *out, const struct answer *answer) {
    bool grouped = answer->group[0] != '\0';
    text_add_string(out, grouped ? ", \"groups\": [" : ", \"processes\": [");
    for (uint32_t i = 0; i < answer->count; i++) {
        const struct row *row = &answer->rows[i];
        text_addf(out, "%s{\"rank\": %u", i == 0 ? "" : ", ", i + 1);
        add_whole(out, grouped ? "processes" : "pid", grouped ? row->processes : row->pid);
        text_add_string(out, ", ");
        add_string(out, "name", row->name);
        add_seconds(out, "user_seconds", row->user_ns);
        add_seconds(out, "system_seconds", row->system_ns);
        text_add_string(out, "}");
    }
    text_add_string(out, "], \"rest\": ");
    if (answer->has_rest) {
        text_add_string(out, "{\"user_seconds\": ");
        text_addf(out, "%lld.%06lld", (long long)answer->rest.user_ns / NS_PER_S,
                  (long long)answer->rest.user_ns % NS_PER_S / NS_PER_US);
        add_seconds(out, "system_seconds", answer->rest.system_ns);
        add_whole(out, "processes", answer->rest.processes);
        text_add_string(out, "}");
    } else {
        text_add_string(out, "null");
    }
}

static void add_json_answer(struct text *out, const struct host *host) {
    const struct answer *answer = &host->answer;
    text_add_string(out, ", ");
    add_string(out, "host", answer->host);
    text_add_string(out, ", ");
    add_string(out, "source", answer->source);
    text_add_string(out, ", ");
    add_string(out, "source_reason", answer->source_reason);
    add_seconds(out, "taken_at", answer->taken_at_ns);
    add_whole(out, "age_ms", answer->age_ms);
    add_whole(out, "tasks_seen", answer->tasks_seen);
    add_whole(out, "tasks_lost", answer->tasks_lost);
    text_addf(out, ", \"by\": \"%s\", ", answer->recent ? "recent" : "total");
    if (answer->group[0] != '\0')
        add_string(out, "group", answer->group);
    else
        text_add_string(out, "\"group\": null");
    add_seconds(out, "elapsed_seconds", answer->elapsed_ns);
    add_json_rows(out, answer);
}

void plain_add_json(struct text *out, const struct host *hosts, unsigned count, int64_t now_ns) {
    static const char *const STATES[] = {"waiting", "ok", "unreachable", "failing"};
    for (const struct host *host = hosts; host < hosts + count; host++) {
        char where[ADDRESS_TEXT_LIMIT];
        host_where(host, where);
        text_add_string(out, "{");
        add_string(out, "target", host->wanted);
        text_add_string(out, ", ");
        add_string(out, "address", where);
        text_addf(out, ", \"state\": \"%s\"", STATES[host->health]);
        if (is_failing(host)) {
            text_add_string(out, ", ");
            add_string(out, "reason", host->reason);
            add_seconds(out, "failing_seconds", now_ns - host->failing_since_ns);
        } else if (host->answered_ns != 0) {
            add_json_answer(out, host);
        }
        text_add_string(out, "}\n");
    }
}

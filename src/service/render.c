#include "service/render.h"

#include "base/clock.h"

#include <string.h>

/* Seconds with six decimals; no floating point, which would round a long-lived process's time. */
static void add_seconds(struct text *out, int64_t ns) {
    int64_t us = ns / NS_PER_US;
    char decimals[7] = ".000000";
    int64_t rest = us % (NS_PER_S / NS_PER_US);
    for (size_t at = sizeof decimals - 1; at > 0; at--, rest /= 10)
        decimals[at] = (char)('0' + rest % 10);
    text_add_number(out, (uint64_t)(us / (NS_PER_S / NS_PER_US)));
    text_add(out, decimals, sizeof decimals);
}

static unsigned fewer(unsigned rows, const struct snapshot *snapshot) {
    return rows < snapshot->count ? rows : snapshot->count;
}

void render_text_head(struct text *out) {
    text_add_string(out, "rank pid user_seconds system_seconds name\n");
}

void render_text_row(const struct snapshot *snapshot, unsigned row, struct text *out) {
    const struct process *process = &snapshot->top[row];
    text_add_number(out, row + 1);
    text_add(out, " ", 1);
    text_add_number(out, (uint64_t)process->pid);
    text_add(out, " ", 1);
    add_seconds(out, process->user_ns);
    text_add(out, " ", 1);
    add_seconds(out, process->system_ns);
    text_add(out, " ", 1);
    text_add_escaped(out, process->name, process->name_length);
    text_add(out, "\n", 1);
}

void render_text(const struct snapshot *snapshot, unsigned rows, struct text *out) {
    render_text_head(out);
    for (unsigned row = 0; row < fewer(rows, snapshot); row++)
        render_text_row(snapshot, row, out);
}

static void add_field(struct text *out, const char *name, int64_t ns) {
    text_add_string(out, name);
    add_seconds(out, ns);
}

void render_json(const struct snapshot *snapshot, unsigned rows, const char *host,
                 struct text *out) {
    text_add_string(out, "{\"host\": ");
    text_add_json_string(out, host, strlen(host));
    add_field(out, ", \"taken_at\": ", snapshot->scan.taken_at_ns);
    text_add_string(out, ", \"age_ms\": ");
    text_add_number(out,
                    (uint64_t)((clock_monotonic_ns() - snapshot->scan.taken_mono_ns) / NS_PER_MS));
    text_add_string(out, ", \"source\": \"");
    text_add_string(out, snapshot->scan.source);
    text_add_string(out, "\", \"tasks_seen\": ");
    text_add_number(out, snapshot->scan.seen);
    text_add_string(out, ", \"processes\": [");
    for (unsigned i = 0; i < fewer(rows, snapshot); i++) {
        const struct process *process = &snapshot->top[i];
        text_add_string(out, i == 0 ? "{\"rank\": " : ", {\"rank\": ");
        text_add_number(out, i + 1);
        text_add_string(out, ", \"pid\": ");
        text_add_number(out, (uint64_t)process->pid);
        text_add_string(out, ", \"name\": ");
        text_add_json_string(out, process->name, process->name_length);
        add_field(out, ", \"user_seconds\": ", process->user_ns);
        add_field(out, ", \"system_seconds\": ", process->system_ns);
        add_field(out, ", \"started_at\": ", snapshot->scan.boot_at_ns + process->started_ns);
        text_add(out, "}", 1);
    }
    text_add_string(out, "]}\n");
}

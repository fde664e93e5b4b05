#include "service/render.h"

#include "base/clock.h"

#include <string.h>

static void add_field(struct text *out, const char *name, int64_t ns) {
    text_add_string(out, name);
    render_seconds(ns, out);
}

static void add_count(struct text *out, const char *name, uint64_t number) {
    text_add_string(out, name);
    text_add_number(out, number);
}

static void add_name(struct text *out, const char *name, size_t length) {
    text_add_string(out, ", \"name\": ");
    text_add_json_string(out, name, length);
}

static void add_times(struct text *out, int64_t user_ns, int64_t system_ns) {
    add_field(out, ", \"user_seconds\": ", user_ns);
    add_field(out, ", \"system_seconds\": ", system_ns);
}

static void add_command(struct text *out, const struct detail *detail) {
    text_add_string(out, ", \"command\": ");
    if (detail->command_length == 0)
        text_add_string(out, "null");
    else
        text_add_json_string(out, detail->command, detail->command_length);
}

static void add_threads(struct text *out, const struct detail *detail) {
    text_add_string(out, ", \"threads\": [");
    for (uint32_t i = 0; i < detail->shown; i++) {
        const struct process *thread = &detail->busiest[i];
        add_count(out, i == 0 ? "{\"tid\": " : ", {\"tid\": ", (uint64_t)thread->pid);
        add_name(out, thread->name, thread->name_length);
        add_times(out, thread->user_ns, thread->system_ns);
        text_add(out, "}", 1);
    }
    add_count(out, "], \"threads_alive\": ", detail->threads);
    add_count(out, ", \"threads_unread\": ", detail->unread);
}

static void add_row(struct text *out, const struct rendering *rendering, uint32_t i) {
    const struct request *request = rendering->request;
    const struct history_row *row = &rendering->answer->rows[i];
    add_count(out, i == 0 ? "{\"rank\": " : ", {\"rank\": ", i + 1);
    if (request->group == GROUP_NONE)
        add_count(out, ", \"pid\": ", (uint64_t)row->pid);
    else
        add_count(out, ", \"processes\": ", row->processes);
    add_name(out, row->name, row->name_length);
    add_times(out, row->user_ns, row->system_ns);
    if (request->group == GROUP_NONE)
        add_field(out, ", \"started_at\": ", rendering->answer->scan.boot_at_ns + row->started_ns);
    if (request->wants_command)
        add_command(out, &rendering->details[i]);
    if (request->wants_threads)
        add_threads(out, &rendering->details[i]);
    text_add(out, "}", 1);
}

static void add_scan(struct text *out, const struct rendering *rendering) {
    const struct scan *scan = &rendering->answer->scan;
    int64_t age_ns = clock_monotonic_ns() - scan->taken_mono_ns;
    text_add_string(out, "{\"host\": ");
    text_add_json_string(out, rendering->host, strlen(rendering->host));
    add_field(out, ", \"taken_at\": ", scan->taken_at_ns);
    add_count(out, ", \"age_ms\": ", (uint64_t)(age_ns / NS_PER_MS));
    text_add_string(out, ", \"source\": \"");
    text_add_string(out, scan->source);
    text_add_string(out, "\", \"source_reason\": ");
    text_add_json_string(out, scan->reason, render_reason_length(scan->reason));
    add_count(out, ", \"tasks_seen\": ", scan->seen);
    add_count(out, ", \"tasks_lost\": ", scan->lost);
}

void render_json(const struct rendering *rendering, struct text *out) {
    static const char *const groupings[] = {[GROUP_NONE] = "null",
                                            [GROUP_NAME] = "\"name\"",
                                            [GROUP_CGROUP] = "\"cgroup\"",
                                            [GROUP_UNIT] = "\"unit\""};
    const struct history_answer *answer = rendering->answer;
    const struct request *request = rendering->request;
    add_scan(out, rendering);
    text_add_string(out, request->by == BY_RECENT ? ", \"by\": \"recent\"" : ", \"by\": \"total\"");
    text_add_string(out, ", \"group\": ");
    text_add_string(out, groupings[request->group]);
    add_field(out, ", \"elapsed_seconds\": ", answer->elapsed_ns);
    text_add_string(out, request->group == GROUP_NONE ? ", \"processes\": [" : ", \"groups\": [");
    for (uint32_t i = 0; i < answer->count; i++)
        add_row(out, rendering, i);
    add_field(out, "], \"rest\": {\"user_seconds\": ", answer->rest.user_ns);
    add_field(out, ", \"system_seconds\": ", answer->rest.system_ns);
    add_count(out, ", \"processes\": ", answer->rest.processes);
    text_add_string(out, "}}\n");
}

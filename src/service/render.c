#include "service/render.h"

#include "base/calendar.h"
#include "base/clock.h"
#include "base/number.h"

#include <string.h>

static void add_padded(struct text *out, uint64_t number, unsigned digits) {
    char bytes[NUMBER_DIGITS];
    for (unsigned at = digits; at > 0; at--, number /= 10)
        bytes[at - 1] = (char)('0' + number % 10);
    text_add(out, bytes, digits);
}

/* Without floating point, which would round long times. */
void render_seconds(int64_t ns, struct text *out) {
    int64_t us = ns / NS_PER_US;
    uint32_t rest = (uint32_t)(us % (NS_PER_S / NS_PER_US));
    char bytes[NUMBER_DIGITS + 7];
    size_t length = number_format((uint64_t)(us / (NS_PER_S / NS_PER_US)), bytes);
    bytes[length] = '.';
    for (size_t at = length + 6; at > length; at--, rest /= 10)
        bytes[at] = (char)('0' + rest % 10);
    text_add(out, bytes, length + 7);
}

/* "2026-11-21T13:20:01.123Z". */
static void add_time(struct text *out, int64_t unix_ns) {
    char bytes[sizeof "2026-11-21T13:20:01.123Z"], *at = bytes;
    uint64_t ms = (uint64_t)(unix_ns / NS_PER_MS);
    const struct calendar utc = calendar_of(ms / 1000);
    at = calendar_put(at, utc.year, 4);
    *at++ = '-';
    at = calendar_put(at, utc.month, 2);
    *at++ = '-';
    at = calendar_put(at, utc.day, 2);
    *at++ = 'T';
    at = calendar_put(at, utc.hour, 2);
    *at++ = ':';
    at = calendar_put(at, utc.minute, 2);
    *at++ = ':';
    at = calendar_put(at, utc.second, 2);
    *at++ = '.';
    at = calendar_put(at, (unsigned)(ms % 1000), 3);
    *at++ = 'Z';
    text_add(out, bytes, (size_t)(at - bytes));
}

static void add_times(struct text *out, int64_t user_ns, int64_t system_ns) {
    render_seconds(user_ns, out);
    text_add(out, " ", 1);
    render_seconds(system_ns, out);
    text_add(out, " ", 1);
}

void render_text_head(struct text *out) {
    text_add_string(out, "rank pid user_seconds system_seconds name\n");
}

void render_text_row(unsigned rank, const struct history_row *row, struct text *out) {
    text_add_number(out, rank);
    text_add(out, " ", 1);
    text_add_number(out, row->pid != 0 ? (uint64_t)row->pid : row->processes);
    text_add(out, " ", 1);
    add_times(out, row->user_ns, row->system_ns);
    text_add_escaped(out, row->name, row->name_length);
    text_add(out, "\n", 1);
}

size_t render_reason_length(const char *reason) {
    return strnlen(reason, REASON_LIMIT);
}

static void add_source(struct text *out, const struct scan *scan) {
    text_add_string(out, "# source ");
    text_add_string(out, scan->source);
    text_add(out, " (", 2);
    text_add_escaped(out, scan->reason, render_reason_length(scan->reason));
    text_add_string(out, "), ");
    text_add_number(out, scan->seen);
    text_add_string(out, " tasks, ");
    text_add_number(out, scan->lost);
    text_add_string(out, " lost, taken ");
    add_time(out, scan->taken_at_ns);
}

void render_text_source(const struct scan *scan, struct text *out) {
    add_source(out, scan);
    text_add(out, "\n", 1);
}

void render_text_rest(const struct history_row *rest, struct text *out) {
    text_add(out, "- - ", 4);
    add_times(out, rest->user_ns, rest->system_ns);
    text_add_string(out, "(everything else)\n");
}

static void add_command(struct text *out, const struct detail *detail) {
    if (detail->command_length == 0)
        return;
    text_add(out, "= ", 2);
    text_add_escaped(out, detail->command, detail->command_length);
    text_add(out, "\n", 1);
}

static void add_threads(struct text *out, const struct detail *detail) {
    for (uint32_t i = 0; i < detail->shown; i++) {
        const struct process *thread = &detail->busiest[i];
        text_add(out, "+ ", 2);
        text_add_number(out, (uint64_t)thread->pid);
        text_add(out, " ", 1);
        add_times(out, thread->user_ns, thread->system_ns);
        text_add_escaped(out, thread->name, thread->name_length);
        text_add(out, "\n", 1);
    }
    if (detail->threads == detail->shown)
        return;
    text_add_string(out, "+ - - - (");
    text_add_number(out, detail->threads - detail->shown);
    text_add_string(out, " more threads");
    if (detail->unread > 0) {
        text_add(out, ", ", 2);
        text_add_number(out, detail->unread);
        text_add_string(out, " of them not looked at");
    }
    text_add_string(out, ")\n");
}

void render_text(const struct rendering *rendering, struct text *out) {
    const struct history_answer *answer = rendering->answer;
    const struct request *request = rendering->request;
    if (request->group == GROUP_NONE)
        render_text_head(out);
    else
        text_add_string(out, "rank processes user_seconds system_seconds group\n");
    for (uint32_t i = 0; i < answer->count; i++) {
        render_text_row(i + 1, &answer->rows[i], out);
        if (request->wants_command)
            add_command(out, &rendering->details[i]);
        if (request->wants_threads)
            add_threads(out, &rendering->details[i]);
    }
    render_text_rest(&answer->rest, out);
    add_source(out, &answer->scan);
    if (request->by == BY_RECENT) {
        int64_t elapsed_ms = (answer->elapsed_ns + NS_PER_MS / 2) / NS_PER_MS;
        text_add_string(out, ", over ");
        text_add_number(out, (uint64_t)(elapsed_ms / 1000));
        text_add(out, ".", 1);
        add_padded(out, (uint64_t)(elapsed_ms % 1000), 3);
        text_add(out, " s", 2);
    }
    text_add(out, "\n", 1);
}

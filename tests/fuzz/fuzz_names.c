/* Names and command lines in replies: whatever name a process has, both forms restore it, and it
 * can neither forge a line nor control a terminal.
 *
 * Input: the length of the name; how it is shown; the name; the command line. */
#include "fuzz.h"
#include "terminal.h"

#include "client/reply/rows.h"
#include "service/render.h"
#include "watch/answer.h"
#include "watch/json.h"

enum { FORM_LIMIT = 64 * 1024 };

static int hex_value(char c) {
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static char meaning_of(char letter) {
    switch (letter) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    default:
        return letter;
    }
}

/* What text_add_escaped has made of some bytes, back. Returns how many. */
UNTRACED static size_t unescape(const char *escaped, size_t length, char *bytes) {
    size_t count = 0;
    for (size_t at = 0; at < length; at++) {
        char c = escaped[at];
        if (c == '\\') {
            c = escaped[++at];
            if (c == 'x') {
                c = (char)(hex_value(escaped[at + 1]) * 16 + hex_value(escaped[at + 2]));
                at += 2;
            } else {
                c = meaning_of(c);
            }
        }
        bytes[count++] = c;
    }
    return count;
}

static void check_escaped(const char *bytes, size_t length, struct text *escaped) {
    char back[HISTORY_NAME_LIMIT];
    text_add_escaped(escaped, bytes, length);
    MUST(!escaped->overflow && escaped->length <= 4 * length);
    MUST(memchr(escaped->bytes, '\n', escaped->length) == NULL);
    must_be_fit_for_a_terminal(escaped->bytes, escaped->length);
    MUST(unescape(escaped->bytes, escaped->length, back) == length);
    MUST(memcmp(back, bytes, length) == 0);
}

/* What does not fit is left out, and `overflow` says so. */
static void check_short(const struct text *escaped, const char *bytes, size_t length,
                        unsigned room) {
    char space[256];
    struct text text = text_fixed(space, room);
    text_add_escaped(&text, bytes, length);
    MUST(text.overflow == (escaped->length > room) && text.length <= room);
    MUST(text.overflow ||
         (text.length == escaped->length && memcmp(space, escaped->bytes, text.length) == 0));
}

/* A string of any length, as it is escaped, is read from JSON again. */
static void check_json_string(const struct input *input) {
    static struct text escaped = {.limit = FORM_LIMIT}, json = {.limit = FORM_LIMIT};
    static char back[FORM_LIMIT];
    escaped.length = json.length = 0;
    text_add_escaped(&escaped, input->at, input->left);
    text_add_json_string(&json, input->at, input->left);
    MUST(!escaped.overflow && !json.overflow);
    struct json left = {json.bytes, json.bytes + json.length, false};
    MUST(json_string(&left, back, sizeof back) && left.at == left.end);
    MUST(strlen(back) == escaped.length);
    MUST(escaped.length == 0 || memcmp(back, escaped.bytes, escaped.length) == 0);
}

/* Our own client must accept the row. */
static void check_row(const struct history_row *row) {
    char line[TEXT_ROW_BYTES + 4 * HISTORY_NAME_LIMIT];
    struct text text = text_fixed(line, sizeof line);
    struct rows rows = {.wanted = 1};
    render_text_row(1, row, &text);
    MUST(!text.overflow && line[text.length - 1] == '\n');
    if (row->name_length <= NAME_LIMIT)
        MUST(rows_take(&rows, (struct slice){line, text.length - 1}) == NULL);
}

UNTRACED static unsigned lines_of(const struct text *text) {
    unsigned lines = 0;
    for (uint32_t i = 0; i < text->length; i++)
        lines += text->bytes[i] == '\n';
    return lines;
}

static void check_forms(const struct rendering *rendering, const struct text *escaped) {
    static struct answer answer;
    struct text text = text_growing(FORM_LIMIT), json = text_growing(FORM_LIMIT);
    const struct detail *detail = rendering->details;
    render_text(rendering, &text);
    MUST(!text.overflow);
    must_be_fit_for_a_terminal(text.bytes, text.length);
    /* Head, row, everything else, source; command, thread, more threads. */
    unsigned lines = 4;
    if (detail != NULL)
        lines += (detail->command_length > 0) + 1U + (detail->threads > detail->shown);
    MUST(lines_of(&text) == lines);
    render_json(rendering, &json);
    MUST(!json.overflow && lines_of(&json) == 1);
    must_be_fit_for_a_terminal(json.bytes, json.length);
    MUST(answer_parse(json.bytes, json.length, &answer) == NULL && answer.count == 1);
    MUST(strlen(answer.rows[0].name) == escaped->length &&
         memcmp(answer.rows[0].name, escaped->bytes, escaped->length) == 0);
    text_release(&text);
    text_release(&json);
}

/* A process of this command line, with a thread of its name, and more threads as `form` has it. */
static struct detail detail_of(const struct history_row *row, struct input command, unsigned form) {
    struct detail detail = {.threads = 1 + form / 16 % 2, .unread = form / 32 % 2, .shown = 1};
    size_t length = command.left < COMMAND_LIMIT / 4 ? command.left : COMMAND_LIMIT / 4;
    struct process *thread = &detail.busiest[0];
    detail.command_length = (uint16_t)length;
    memcpy(detail.command, command.at, length);
    thread->pid = 7;
    thread->name_length = row->name_length < NAME_LIMIT ? row->name_length : NAME_LIMIT;
    memcpy(thread->name, row->name, thread->name_length);
    return detail;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static struct history_answer answer;
    struct input input = input_of(bytes, length);
    /* One byte less than a name may have: what is read back is as long at most. */
    size_t name_length = input_choice(&input) % HISTORY_NAME_LIMIT;
    unsigned form = input_choice(&input);
    name_length = name_length < input.left ? name_length : input.left;
    struct request request = {.kind = REQUEST_TOP,
                              .group = (enum grouping)(form % 4),
                              .by = form / 4 % 2 != 0 ? BY_RECENT : BY_TOTAL};
    request.wants_threads = request.wants_command = request.group == GROUP_NONE;

    struct history_row *row = &answer.rows[0];
    *row = (struct history_row){.processes = 3, .user_ns = 1, .name_length = (uint8_t)name_length};
    row->pid = request.group == GROUP_NONE ? 7 : 0;
    memcpy(row->name, input.at, name_length);
    answer.count = 1;
    answer.elapsed_ns = 1500000000;
    answer.scan = (struct scan){.source = "procfs", .reason = "a reason"};
    struct input command = {input.at + name_length, input.left - name_length};
    struct detail detail = detail_of(row, command, form);

    char space[4 * HISTORY_NAME_LIMIT];
    struct text escaped = text_fixed(space, sizeof space);
    check_escaped(row->name, name_length, &escaped);
    check_short(&escaped, row->name, name_length, form);
    check_json_string(&input);
    check_row(row);
    char *host = input_string(&(struct input){row->name, name_length});
    check_forms(
        &(struct rendering){&request, &answer, host, request.group == GROUP_NONE ? &detail : NULL},
        &escaped);
    free(host);
    return 0;
}

/* What --watch shows of a reply: no content of a reply can control a terminal.
 *
 * Input: whether the host fails and in what phase, or the columns of a name, which are the age of
 * what is shown too; JSON, or the reason of the failure. */
#include "fuzz.h"
#include "terminal.h"

#include "watch/answer.h"
#include "watch/clean.h"
#include "watch/figures.h"
#include "watch/json.h"
#include "watch/plain.h"

enum { SHOWN_LIMIT = 1 << 22, MOST_AGE_BITS = 60 /* 18 years */ };

static void check_shown(const struct text *shown) {
    MUST(!shown->overflow);
    must_be_fit_for_a_terminal(shown->bytes, shown->length);
}

static void check_json(const struct text *shown) {
    struct json json = {shown->bytes, shown->bytes + shown->length, false};
    MUST(json_skip(&json) && json_over(&json));
    MUST(memchr(shown->bytes, '\n', shown->length) == shown->bytes + shown->length - 1);
}

/* A name, cut to its place on a screen. */
static void check_cut(const char *name, unsigned columns) {
    struct text clean = text_growing(SHOWN_LIMIT), cut = text_growing(SHOWN_LIMIT);
    unsigned width = 0;
    clean_add(&clean, name);
    unsigned taken = clean_cut(&cut, clean.bytes, clean.length, columns);
    text_add(&cut, "", 1);
    for (size_t at = 0, size; at + 1 < cut.length; at += size)
        width += clean_width(cut.bytes + at, &size);
    MUST(taken == width && width <= columns);
    for (size_t at = 0, line, size; at < clean.length; at += line) {
        line = clean_wrap(clean.bytes + at, clean.length - at, columns);
        MUST(line > 0 && line <= clean.length - at);
        width = 0;
        for (size_t of_line = 0; of_line < line; of_line += size)
            width += clean_width(clean.bytes + at + of_line, &size);
        MUST(width <= columns || line <= 4);
    }
    text_release(&clean);
    text_release(&cut);
}

static void show(struct host *host, unsigned columns) {
    struct text table = text_growing(SHOWN_LIMIT), line = text_growing(SHOWN_LIMIT);
    int64_t now_ns = host->answered_ns + ((int64_t)1 << columns % MOST_AGE_BITS);
    plain_add_table(&table, host, 1, now_ns);
    plain_add_json(&line, host, 1, now_ns);
    check_shown(&table);
    check_shown(&line);
    check_json(&line);
    for (uint32_t i = 0; i < host->answer.count; i++) {
        struct row rest;
        check_cut(host->answer.rows[i].name, columns);
        figure_rest(&host->answer, i, &rest);
        MUST(rest.user_ns >= 0 && rest.system_ns >= 0);
    }
    text_release(&table);
    text_release(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static struct host host;
    static bool has_begun;
    struct input input = input_of(bytes, length);
    unsigned choice = input_choice(&input);
    if (!has_begun) {
        setenv("LC_ALL", "C.UTF-8", 1); /* the terminal that shows most */
        clean_begin();
        has_begun = true;
    }
    memset(&host, 0, sizeof host);
    host.wanted = "db1:7342";
    host.answered_ns = 1;
    host.health = HEALTH_OK;
    if (choice % 4 == 0 && input.left == 0) {
        host.health = HEALTH_NEW;
        host.answered_ns = 0;
    } else if (choice % 4 == 0) {
        host.health = choice / 4 % 2 == 0 ? HEALTH_FAILING : HEALTH_UNREACHABLE;
        host.phase = choice / 8 % 2 == 0 ? PHASE_REST : PHASE_ASKING;
        snprintf(host.reason, sizeof host.reason, "%.*s", (int)input.left, input.at);
    } else if (answer_parse(input.at, input.left, &host.answer) != NULL) {
        return 0;
    }
    show(&host, choice / 4);
    return 0;
}

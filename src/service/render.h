/* An answer as text or JSON (docs/formats.md). */
#pragma once
#include "base/text.h"
#include "service/history/history.h"
#include "service/request.h"
#include "service/source/detail.h"

/* What to render. */
struct rendering {
    const struct request *request;
    const struct history_answer *answer;
    const char *host;             /* this machine's name, arbitrary bytes; only for JSON */
    const struct detail *details; /* of each row; NULL: not requested */
};

void render_text(const struct rendering *rendering, struct text *out);
void render_json(const struct rendering *rendering, struct text *out);

/* The parts of a text without details, in order. */
void render_text_head(struct text *out);
void render_text_row(unsigned rank, const struct history_row *row, struct text *out);
void render_text_rest(const struct history_row *rest, struct text *out);
void render_text_source(const struct scan *scan, struct text *out);

enum {
    /* Most bytes of a source's reason that are shown, before escaping. */
    REASON_LIMIT = 160,
    /* The longest row: rank, pid, two times, every byte of the name escaped. */
    TEXT_ROW_BYTES = 80 + 4 * NAME_LIMIT,
    TEXT_TAIL_BYTES = 256 + 4 * REASON_LIMIT,
};

/* Seconds with six decimals. */
void render_seconds(int64_t ns, struct text *out);
size_t render_reason_length(const char *reason);

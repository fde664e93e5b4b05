/* An answer as text or JSON (docs/formats.md). */
#pragma once
#include "base/text.h"
#include "history/history.h"
#include "service/request.h"
#include "top/detail.h"

/* What there is to be said. */
struct rendering {
    const struct request *request;
    const struct history_answer *answer;
    const char *host;             /* this machine's name, any bytes; of JSON only */
    const struct detail *details; /* of each row, with what was asked for; NULL: nothing was */
};

void render_text(const struct rendering *rendering, struct text *out);
void render_json(const struct rendering *rendering, struct text *out);

/* The text of the simplest request, in its parts, one after the other: head, rows, everything else,
 * and where it comes from. */
void render_text_head(struct text *out);
void render_text_row(unsigned rank, const struct history_row *row, struct text *out);
void render_text_rest(const struct history_row *rest, struct text *out);
void render_text_source(const struct scan *scan, struct text *out);

enum {
    /* What is said of a source's reason; escaped, these many bytes may become four times as many.
     */
    REASON_LIMIT = 160,
    /* The worst of rows: rank, pid and two times, and each byte of the name escaped. */
    TEXT_ROW_BYTES = 80 + 4 * NAME_LIMIT,
    TEXT_TAIL_BYTES = 256 + 4 * REASON_LIMIT,
};

/* Seconds with six decimals, for both forms. */
void render_seconds(int64_t ns, struct text *out);
size_t render_reason_length(const char *reason);

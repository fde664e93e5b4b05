/* A snapshot as text or JSON (docs/formats.md). */
#pragma once
#include "base/text.h"
#include "top/snapshot.h"

/* The text is its head and its rows, one after the other: of fewer rows it is the beginning of that
 * of more. */
void render_text_head(struct text *out);
void render_text_row(const struct snapshot *snapshot, unsigned row, struct text *out);
void render_text(const struct snapshot *snapshot, unsigned rows, struct text *out);

/* host: this machine's name, any bytes. */
void render_json(const struct snapshot *snapshot, unsigned rows, const char *host,
                 struct text *out);

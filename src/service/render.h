/* A snapshot as text or JSON (docs/formats.md). */
#pragma once
#include "base/text.h"
#include "top/snapshot.h"

void render_text(const struct snapshot *snapshot, unsigned rows, struct text *out);

/* host: this machine's name, any bytes. */
void render_json(const struct snapshot *snapshot, unsigned rows, const char *host,
                 struct text *out);

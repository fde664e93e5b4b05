/* Output without a screen: plain text tables, or lines of JSON (docs/formats.md). */
#pragma once
#include "watch/host.h"

/* Each host's head and table. */
void plain_add_table(struct text *out, const struct host *hosts, unsigned count, int64_t now_ns);

/* One line for each host. */
void plain_add_json(struct text *out, const struct host *hosts, unsigned count, int64_t now_ns);

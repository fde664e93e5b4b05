/* The figures of a host as text, the same on a screen and in plain text.
 *
 * All text is safe for a terminal (clean.h). No floating point. */
#pragma once
#include "watch/host.h"

enum { FIGURE_LIMIT = 24, LINE_TEXT_LIMIT = 2048 };

/* CPU time as percent of one CPU over elapsed_ns, one decimal ("99.8"); as seconds ("12.34"). */
void figure_percent(int64_t cpu_ns, int64_t elapsed_ns, char text[FIGURE_LIMIT]);
void figure_seconds(int64_t cpu_ns, char text[FIGURE_LIMIT]);

/* A percentage for recent figures, otherwise seconds. */
void figure_cpu(const struct answer *answer, int64_t cpu_ns, char text[FIGURE_LIMIT]);

/* "0.3 s", "12 s", "5 min", "3 h": how long ago. */
void figure_duration(int64_t ns, char text[FIGURE_LIMIT]);

/* Everything that is not in the first `rows` rows. False: unknown. */
bool figure_rest(const struct answer *answer, uint32_t rows, struct row *rest);

/* "(everything else: 71)", the number of processes. */
void add_rest_name(struct text *out, const struct row *rest);

/* The host's name, and its address: "alpha" "127.0.0.1:7342". */
void add_name(struct text *out, const struct host *host);
void add_where(struct text *out, const struct host *host);

/* "bpf, 75 tasks, 0 lost (why not another source)"; nothing before the first answer. */
void add_source(struct text *out, const struct host *host);

/* "ok, 0.3 s old, over 10 s", "UNREACHABLE for 5 s: Connection refused; again in 2 s". */
void add_state(struct text *out, const struct host *host, int64_t now_ns);

bool is_failing(const struct host *host);

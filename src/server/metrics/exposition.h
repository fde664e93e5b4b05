/* Writes metrics in the Prometheus text format 0.0.4 or in OpenMetrics 1.0.
 *
 *     exposition_family(e, METRIC_COUNTER, "regatta_scans", NULL, "Readings of all processes.");
 *     exposition_sample(e, "");
 *     exposition_label(e, "source", "bpf");
 *     exposition_count(e, 42);
 *
 * A family's name omits the suffix of its type ("_total", "_info"), which the two formats put in
 * different places. Each family is written once, with all its samples. */
#pragma once
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, METRIC_INFO };

struct exposition {
    struct text *out;
    bool is_openmetrics;
    enum metric_type type; /* of the family that is being written */
    const char *name;
    bool has_labels; /* of the sample */
};

/* unit: the last word of the name, or NULL. help: one line without backslashes or quotes. */
void exposition_family(struct exposition *exposition, enum metric_type type, const char *name,
                       const char *unit, const char *help);

/* Begins a sample; suffix: "_bucket" and so on for a histogram, else "". */
void exposition_sample(struct exposition *exposition, const char *suffix);

/* A label of the sample, whose value is a plain word. */
void exposition_label(struct exposition *exposition, const char *label, const char *value);

/* A label whose value may be any bytes, escaped as in the text form of a reply, so that different
 * names stay different. An empty value becomes \x00, as an empty label means none. */
void exposition_label_bytes(struct exposition *exposition, const char *label, const char *bytes,
                            size_t length);

/* End the sample with its value. */
void exposition_count(struct exposition *exposition, uint64_t value);
void exposition_seconds(struct exposition *exposition, int64_t ns);

/* A whole family of one sample without labels. */
void exposition_one(struct exposition *exposition, enum metric_type type, const char *name,
                    const char *unit, const char *help, uint64_t value);

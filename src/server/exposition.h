/* Writes metrics as Prometheus reads them: its text format 0.0.4, or OpenMetrics 1.0.
 *
 *     exposition_family(e, METRIC_COUNTER, "regatta_scans", NULL, "Readings of all processes.");
 *     exposition_sample(e, "");
 *     exposition_label(e, "source", "bpf");
 *     exposition_count(e, 42);
 *
 * A family's name is without what its type adds to it ("_total", "_info"): the two formats differ
 * in where that stands. Families come one after the other, each once. */
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

/* unit: what the name ends in, or NULL. help: one line without a backslash or a quote. */
void exposition_family(struct exposition *exposition, enum metric_type type, const char *name,
                       const char *unit, const char *help);

/* Begins a sample; suffix: "_bucket" and the like of a histogram, else "". */
void exposition_sample(struct exposition *exposition, const char *suffix);

/* A label of the sample, whose value is a plain word. */
void exposition_label(struct exposition *exposition, const char *label, const char *value);

/* A label whose value is any bytes: they are written as in the text form of a reply, and no two
 * names become one. What is empty becomes \x00, so that an empty value stays free. */
void exposition_label_bytes(struct exposition *exposition, const char *label, const char *bytes,
                            size_t length);

/* End the sample with its value. */
void exposition_count(struct exposition *exposition, uint64_t value);
void exposition_seconds(struct exposition *exposition, int64_t ns);

/* A whole family of one sample without labels. */
void exposition_one(struct exposition *exposition, enum metric_type type, const char *name,
                    const char *unit, const char *help, uint64_t value);

#include "server/metrics/exposition.h"

#include "base/clock.h"

static const char *const type_names[] = {
    [METRIC_COUNTER] = "counter",
    [METRIC_GAUGE] = "gauge",
    [METRIC_HISTOGRAM] = "histogram",
    [METRIC_INFO] = "info",
};

static const char *type_suffix(enum metric_type type) {
    return type == METRIC_COUNTER ? "_total" : type == METRIC_INFO ? "_info" : "";
}

/* "# TYPE regatta_scans_total counter": 0.0.4 has the suffix here, OpenMetrics does not. */
static void add_about(const struct exposition *exposition, const char *what, const char *value) {
    struct text *out = exposition->out;
    text_add_string(out, "# ");
    text_add_string(out, what);
    text_add(out, " ", 1);
    text_add_string(out, exposition->name);
    if (!exposition->is_openmetrics)
        text_add_string(out, type_suffix(exposition->type));
    text_add(out, " ", 1);
    text_add_string(out, value);
    text_add(out, "\n", 1);
}

void exposition_family(struct exposition *exposition, enum metric_type type, const char *name,
                       const char *unit, const char *help) {
    exposition->type = type;
    exposition->name = name;
    add_about(exposition, "HELP", help);
    /* 0.0.4 has no type "info". */
    bool is_gauge = type == METRIC_INFO && !exposition->is_openmetrics;
    add_about(exposition, "TYPE", type_names[is_gauge ? METRIC_GAUGE : type]);
    if (unit != NULL && exposition->is_openmetrics)
        add_about(exposition, "UNIT", unit);
}

void exposition_sample(struct exposition *exposition, const char *suffix) {
    text_add_string(exposition->out, exposition->name);
    text_add_string(exposition->out, type_suffix(exposition->type));
    text_add_string(exposition->out, suffix);
    exposition->has_labels = false;
}

static void begin_label(struct exposition *exposition, const char *label) {
    text_add(exposition->out, exposition->has_labels ? "," : "{", 1);
    exposition->has_labels = true;
    text_add_string(exposition->out, label);
    text_add_string(exposition->out, "=");
}

void exposition_label(struct exposition *exposition, const char *label, const char *value) {
    begin_label(exposition, label);
    text_add(exposition->out, "\"", 1);
    text_add_string(exposition->out, value);
    text_add(exposition->out, "\"", 1);
}

/* The text form has no control characters left, so the format only requires quotes and backslashes
 * to be escaped, as JSON does. */
void exposition_label_bytes(struct exposition *exposition, const char *label, const char *bytes,
                            size_t length) {
    begin_label(exposition, label);
    text_add_json_string(exposition->out, length > 0 ? bytes : "\0", length > 0 ? length : 1);
}

static void begin_value(const struct exposition *exposition) {
    text_add_string(exposition->out, exposition->has_labels ? "} " : " ");
}

void exposition_count(struct exposition *exposition, uint64_t value) {
    begin_value(exposition);
    text_add_number(exposition->out, value);
    text_add(exposition->out, "\n", 1);
}

/* All nine decimals; floating point would round them. */
void exposition_seconds(struct exposition *exposition, int64_t ns) {
    char decimals[10] = ".000000000";
    int64_t rest = ns % NS_PER_S;
    for (size_t at = sizeof decimals - 1; at > 0; at--, rest /= 10)
        decimals[at] = (char)('0' + rest % 10);
    begin_value(exposition);
    text_add_number(exposition->out, (uint64_t)(ns / NS_PER_S));
    text_add(exposition->out, decimals, sizeof decimals);
    text_add(exposition->out, "\n", 1);
}

void exposition_one(struct exposition *exposition, enum metric_type type, const char *name,
                    const char *unit, const char *help, uint64_t value) {
    exposition_family(exposition, type, name, unit, help);
    exposition_sample(exposition, "");
    exposition_count(exposition, value);
}

/* Counts the server-sent events of a body (HTML standard, "Server-sent events"): lines with data,
 * up to an empty line. A comment alone, as servers send to keep a connection, is none. Sans-I/O;
 * the result does not depend on how the bytes are split. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct events {
    uint32_t count, limit; /* counts up to it; 0: no limit */
    uint8_t matched;       /* bytes of the line that are those of `data`; NO_DATA: it is another */
    bool has_line;         /* the line has a byte */
    bool has_data;         /* a line of this event had data */
    bool after_cr;
};

void events_take(struct events *events, const char *bytes, size_t length);

/* Whether no more are wanted. */
static inline bool events_are_enough(const struct events *events) {
    return events->limit > 0 && events->count == events->limit;
}

#include "client/reply/events.h"

static const char DATA[] = "data";
enum { DATA_LENGTH = sizeof DATA - 1, NO_DATA = UINT8_MAX };

static void end_line(struct events *events) {
    if (events->has_line) {
        events->has_data |= events->matched == DATA_LENGTH; /* "data" without a colon has it too */
    } else {
        events->count += events->has_data;
        events->has_data = false;
    }
    events->has_line = false;
    events->matched = 0;
}

static void take_byte(struct events *events, char c) {
    events->has_line = true;
    if (events->matched < DATA_LENGTH) {
        events->matched = c == DATA[events->matched] ? events->matched + 1 : NO_DATA;
    } else if (events->matched == DATA_LENGTH) {
        events->has_data |= c == ':';
        events->matched = NO_DATA;
    }
}

void events_take(struct events *events, const char *bytes, size_t length) {
    for (size_t i = 0; i < length && !events_are_enough(events); i++) {
        const bool is_second = events->after_cr && bytes[i] == '\n';
        events->after_cr = bytes[i] == '\r';
        if (is_second)
            continue;
        if (bytes[i] == '\n' || bytes[i] == '\r')
            end_line(events);
        else
            take_byte(events, bytes[i]);
    }
}

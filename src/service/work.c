#include "service/work.h"

#include "base/clock.h"
#include "base/number.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const int64_t duration_limit_ns = INT64_C(60) * NS_PER_S;

static const struct {
    const char *name;
    enum work_kind kind;
    bool takes_duration;
} works[] = {
    {"scan", WORK_SCAN, false},
    {"classic", WORK_CLASSIC, false},
    {"snapshot", WORK_SNAPSHOT, false},
    {"wait", WORK_WAIT, true},
    {"spin", WORK_SPIN, true},
    {"scan+spin", WORK_SCAN_SPIN, true},
    {"classic+spin", WORK_CLASSIC_SPIN, true},
};

static const struct {
    const char *name;
    int64_t ns;
} units[] = {{"us", NS_PER_US}, {"ms", NS_PER_MS}, {"s", NS_PER_S}};

static int parse_duration(const char *text, int64_t *duration_ns) {
    size_t digits = strspn(text, "0123456789");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        uint64_t number;
        if (strcmp(text + digits, units[i].name) != 0)
            continue;
        if (number_parse_bytes(text, digits, 1, (uint64_t)(duration_limit_ns / units[i].ns),
                               &number) != 0)
            return -EINVAL;
        *duration_ns = (int64_t)number * units[i].ns;
        return 0;
    }
    return -EINVAL;
}

int work_parse(const char *text, struct work *work, const char **problem) {
    size_t length = strcspn(text, "=");
    const char *duration = text[length] == '=' ? text + length + 1 : NULL;
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        if (strlen(works[i].name) != length || memcmp(works[i].name, text, length) != 0)
            continue;
        *work = (struct work){.kind = works[i].kind, .text = text};
        if (!works[i].takes_duration && duration != NULL) {
            *problem = "this work takes no duration";
            return -EINVAL;
        }
        if (works[i].takes_duration &&
            (duration == NULL || parse_duration(duration, &work->duration_ns) != 0)) {
            *problem =
                "expected a duration, as in wait=5ms or spin=50us: a whole number of us, ms or "
                "s, from 1us to 60s";
            return -EINVAL;
        }
        return 0;
    }
    *problem = "no such work; there are: scan, classic, snapshot, wait=DURATION, spin=DURATION, "
               "scan+spin=DURATION, classic+spin=DURATION";
    return -EINVAL;
}

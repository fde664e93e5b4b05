#include "service/exchange/query.h"

#include "base/clock.h"
#include "base/hot.h"
#include "base/limits.h"
#include "base/number.h"

#include <assert.h>
#include <string.h>

HOT static bool take_rows(struct request *request, struct slice value) {
    uint64_t rows;
    if (number_parse_bytes(value.bytes, value.length, 1, TOP_LIMIT, &rows) != 0)
        return false;
    request->rows = (unsigned)rows;
    return true;
}

/* Returns the index of the value among the words, or -1. */
static int choose(struct slice value, const char *const words[], int count) {
    for (int i = 0; i < count; i++)
        if (slice_equals(value, words[i]))
            return i;
    return -1;
}

static bool take_format(struct request *request, struct slice value) {
    int chosen = choose(value, (const char *const[]){"text", "json"}, 2);
    request->format = chosen == 1 ? FORMAT_JSON : FORMAT_TEXT;
    return chosen >= 0;
}

static bool take_by(struct request *request, struct slice value) {
    int chosen = choose(value, (const char *const[]){"total", "recent"}, 2);
    request->by = chosen == 1 ? BY_RECENT : BY_TOTAL;
    return chosen >= 0;
}

static bool take_window(struct request *request, struct slice value) {
    uint64_t seconds;
    if (value.length == 0 || value.bytes[value.length - 1] != 's' ||
        number_parse_bytes(value.bytes, value.length - 1, WINDOW_LEAST_NS / NS_PER_S,
                           WINDOW_MOST_NS / NS_PER_S, &seconds) != 0)
        return false;
    request->window_ns = (int64_t)seconds * NS_PER_S;
    return true;
}

static bool take_group(struct request *request, struct slice value) {
    static const enum grouping groupings[] = {GROUP_NAME, GROUP_CGROUP, GROUP_UNIT};
    int chosen = choose(value, (const char *const[]){"name", "cgroup", "unit"}, 3);
    if (chosen >= 0)
        request->group = groupings[chosen];
    return chosen >= 0;
}

static bool take_switch(struct slice value, bool *is_on) {
    int chosen = choose(value, (const char *const[]){"0", "1"}, 2);
    *is_on = chosen == 1;
    return chosen >= 0;
}

static bool take_threads(struct request *request, struct slice value) {
    return take_switch(value, &request->wants_threads);
}

static bool take_command(struct request *request, struct slice value) {
    return take_switch(value, &request->wants_command);
}

static_assert(TOP_LIMIT == 64 && WINDOW_LEAST_NS == NS_PER_S && WINDOW_MOST_NS / NS_PER_S == 60 &&
                  THREADED_LIMIT == 16,
              "the messages below state these limits");

enum { ROWS, FORMAT, BY, WINDOW };

static const struct parameter {
    char name[16]; /* inline rather than a pointer: one page fault less; zero-terminated */
    bool (*take)(struct request *request, struct slice value);
    const char *wrong, *twice;
} parameters[] = {
    [ROWS] = {"n", take_rows, "n must be a number from 1 to 64", "n is given twice"},
    [FORMAT] = {"format", take_format, "format must be text or json", "format is given twice"},
    [BY] = {"by", take_by, "by must be total or recent", "by is given twice"},
    [WINDOW] = {"window", take_window, "window must be from 1s to 60s, in whole seconds",
                "window is given twice"},
    {"group", take_group, "group must be name, cgroup or unit", "group is given twice"},
    {"threads", take_threads, "threads must be 0 or 1", "threads is given twice"},
    {"command", take_command, "command must be 0 or 1", "command is given twice"},
};

static void refuse(struct request *request, const char *problem) {
    if (request->kind == REQUEST_INVALID)
        return;
    request->kind = REQUEST_INVALID;
    request->status = STATUS_BAD_REQUEST;
    request->problem = problem;
}

HOT void query_begin(struct query *query, struct request *request) {
    *request = (struct request){.kind = REQUEST_TOP,
                                .rows = TOP_DEFAULT,
                                .window_ns = WINDOW_DEFAULT_NS,
                                .status = STATUS_OK};
    *query = (struct query){.request = request};
}

HOT static void take(struct query *query, unsigned index, struct slice value) {
    const struct parameter *parameter = &parameters[index];
    if ((query->seen >> index & 1) != 0)
        refuse(query->request, parameter->twice);
    else if (!parameter->take(query->request, value))
        refuse(query->request, parameter->wrong);
    query->seen |= 1U << index;
}

HOT void query_take(struct query *query, struct slice parameter) {
    struct slice name;
    bool has_value = slice_cut(&parameter, '=', &name);
    for (unsigned i = 0; has_value && i < sizeof parameters / sizeof parameters[0]; i++)
        if (slice_equals(name, parameters[i].name)) {
            take(query, i, parameter);
            return;
        }
    refuse(query->request, "unknown parameter; there are n, format, by, window, group, threads "
                           "and command, each as NAME=VALUE");
}

HOT void query_take_rows(struct query *query, struct slice value) {
    take(query, ROWS, value);
}

HOT void query_end(struct query *query) {
    struct request *request = query->request;
    if ((query->seen >> WINDOW & 1) != 0 && request->by != BY_RECENT)
        refuse(request, "window requires by=recent");
    if (request->group != GROUP_NONE && (request->wants_threads || request->wants_command))
        refuse(request, "threads and command cannot be combined with group");
    if (request->wants_threads && request->rows > THREADED_LIMIT)
        refuse(request, "threads=1 allows at most 16 rows");
}

bool query_has_format(const struct query *query) {
    return (query->seen >> FORMAT & 1) != 0;
}

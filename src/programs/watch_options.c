#include "programs/watch_options.h"

#include "base/clock.h"
#include "base/number.h"
#include "programs/help.h"
#include "programs/option.h"

#include <string.h>

enum {
    ROWS_DEFAULT = 10,
    INTERVAL_LIMIT_S = 3600,
    TIMEOUT_LIMIT_MS = 60 * 60 * 1000,
    COUNT_LIMIT = 1000 * 1000 * 1000,
};

static const char DEFAULT_TARGET[] = "127.0.0.1";

static const char PROGRAM[] = "regatta-client --watch";

/* Seconds, with or without an "s". */
static void read_window(const char *text, void *into) {
    struct watch_options *options = into;
    char digits[8] = "";
    size_t length = strlen(text);
    if (length > 0 && text[length - 1] == 's')
        length--;
    if (length < sizeof digits)
        memcpy(digits, text, length);
    uint64_t number;
    if (number_parse(digits, WINDOW_FIRST_S, WINDOW_LAST_S, &number) != 0)
        option_wrong(PROGRAM, "--window must be a number of seconds from %d to %d, not '%s'",
                     WINDOW_FIRST_S, WINDOW_LAST_S, text);
    options->question.window_s = (unsigned)number;
}

static void read_by(const char *text, void *into) {
    struct watch_options *options = into;
    if (strcmp(text, "recent") != 0 && strcmp(text, "total") != 0)
        option_wrong(PROGRAM, "--by must be recent or total, not '%s'", text);
    options->question.recent = text[0] == 'r';
}

static void read_group(const char *text, void *into) {
    struct watch_options *options = into;
    unsigned group = 0;
    while (group < GROUP_COUNT && strcmp(text, GROUPS[group]) != 0)
        group++;
    if (group == GROUP_COUNT)
        option_wrong(PROGRAM, "--group must be none, name, unit or cgroup, not '%s'", text);
    options->question.group = group;
}

static void read_interval(const char *text, void *into) {
    struct watch_options *options = into;
    double interval_s =
        option_decimal(PROGRAM, "--interval", "a number of seconds", text, 0.1, INTERVAL_LIMIT_S);
    options->pace.interval_ns = (int64_t)(interval_s * NS_PER_S);
}

static void read_token(const char *path, void *into) {
    struct watch_options *options = into;
    option_token(PROGRAM, path, &options->pace.token);
}

bool watch_wanted(int count, char *arguments[]) {
    for (int i = 1; i < count && strcmp(arguments[i], "--") != 0; i++)
        if (strcmp(arguments[i], "--watch") == 0)
            return true;
    return false;
}

static void read_hosts(int count, char *hosts[], struct watch_options *options) {
    if (count > HOST_LIMIT)
        option_wrong(PROGRAM, "at most %d hosts, not %d", HOST_LIMIT, count);
    for (int i = 0; i < count; i++)
        options->hosts[i] = hosts[i];
    options->host_count = (unsigned)count;
    if (count == 0)
        options->hosts[options->host_count++] = DEFAULT_TARGET;
    for (unsigned i = 0; i < options->host_count; i++) {
        struct host host;
        const char *problem = host_open(&host, options->hosts[i]);
        if (problem != NULL)
            option_wrong(PROGRAM, "'%s': %s; give each host as HOST or HOST:PORT",
                         options->hosts[i], problem);
        host_close(&host);
    }
}

void watch_options_read(int count, char *arguments[], struct watch_options *options) {
    static const struct option_program program = {PROGRAM, "--watch --help", watch_help};
    *options = (struct watch_options){
        .question = {.rows = ROWS_DEFAULT, .recent = true, .window_s = WINDOW_DEFAULT_S},
        .pace = {.interval_ns = (int64_t)2 * NS_PER_S, .timeout_ns = (int64_t)5 * NS_PER_S},
    };
    bool is_watched;
    struct option_row rows[] = {
        {"watch", .set = &is_watched},
        {"top", 'n', .number = &options->question.rows, .low = 1, .high = TOP_LIMIT},
        {"by", .read = read_by},
        {"window", .read = read_window},
        {"group", .read = read_group},
        {"interval", .read = read_interval},
        {"count", .number = &options->count, .low = 1, .high = COUNT_LIMIT},
        {"timeout", .amount = &options->pace.timeout_ns, .unit = NS_PER_MS, .low = 1,
         .high = TIMEOUT_LIMIT_MS},
        {"token-file", .read = read_token},
        {"json", .set = &options->json},
        {NULL},
    };
    int first = options_read(&program, count, arguments, rows, options);
    options->rows_given = option_is_given(rows, "top");
    if (option_is_given(rows, "window") && !options->question.recent)
        option_wrong(
            PROGRAM,
            "--window needs --by recent; total times count from the start of each process");
    read_hosts(count - first, arguments + first, options);
}

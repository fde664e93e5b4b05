#include "programs/watch_options.h"

#include "base/clock.h"
#include "base/number.h"
#include "programs/option.h"
#include "programs/watch_help.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS_DEFAULT = 10,
    INTERVAL_LIMIT_S = 3600,
    TIMEOUT_LIMIT_MS = 60 * 60 * 1000,
    COUNT_LIMIT = 1000 * 1000 * 1000,
};

static const char DEFAULT_TARGET[] = "127.0.0.1";

static const char PROGRAM[] = "regatta-client --watch";

/* Seconds, with or without the "s" that the wire has. */
static unsigned read_window(const char *text) {
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
    return (unsigned)number;
}

static bool read_by(const char *text) {
    if (strcmp(text, "recent") != 0 && strcmp(text, "total") != 0)
        option_wrong(PROGRAM, "--by must be recent or total, not '%s'", text);
    return text[0] == 'r';
}

static unsigned read_group(const char *text) {
    for (unsigned i = 0; i < GROUP_COUNT; i++)
        if (strcmp(text, GROUPS[i]) == 0)
            return i;
    option_wrong(PROGRAM, "--group must be none, name, unit or cgroup, not '%s'", text);
}

bool watch_wanted(int count, char *arguments[]) {
    for (int i = 1; i < count && strcmp(arguments[i], "--") != 0; i++)
        if (strcmp(arguments[i], "--watch") == 0)
            return true;
    return false;
}

static void read_hosts(int count, char *hosts[], struct watch_options *options) {
    if (count > HOST_LIMIT)
        option_wrong(PROGRAM, "%d hosts at most, not %d", HOST_LIMIT, count);
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
    enum { WATCH = 256, BY, WINDOW, GROUP, INTERVAL, COUNT, TIMEOUT, TOKEN_FILE, JSON, VERSION };
    static const struct option KNOWN[] = {
        {"watch", no_argument, NULL, WATCH},
        {"top", required_argument, NULL, 'n'},
        {"by", required_argument, NULL, BY},
        {"window", required_argument, NULL, WINDOW},
        {"group", required_argument, NULL, GROUP},
        {"interval", required_argument, NULL, INTERVAL},
        {"count", required_argument, NULL, COUNT},
        {"timeout", required_argument, NULL, TIMEOUT},
        {"token-file", required_argument, NULL, TOKEN_FILE},
        {"json", no_argument, NULL, JSON},
        {"version", no_argument, NULL, VERSION},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    *options = (struct watch_options){
        .question = {.rows = ROWS_DEFAULT, .recent = true, .window_s = WINDOW_DEFAULT_S},
        .pace = {.interval_ns = (int64_t)2 * NS_PER_S, .timeout_ns = (int64_t)5 * NS_PER_S},
    };
    bool window = false;
    opterr = 0;
    for (int option; (option = getopt_long(count, arguments, ":n:h", KNOWN, NULL)) != -1;) {
        switch (option) {
        case WATCH:
            break;
        case 'n':
            options->question.rows = option_number(PROGRAM, "--top", optarg, 1, TOP_LIMIT);
            options->rows_given = true;
            break;
        case BY:
            options->question.recent = read_by(optarg);
            break;
        case WINDOW:
            options->question.window_s = read_window(optarg);
            window = true;
            break;
        case GROUP:
            options->question.group = read_group(optarg);
            break;
        case INTERVAL:
            options->pace.interval_ns =
                (int64_t)(option_decimal(PROGRAM, "--interval", "a number of seconds", optarg, 0.1,
                                         INTERVAL_LIMIT_S) *
                          NS_PER_S);
            break;
        case COUNT:
            options->count = option_number(PROGRAM, "--count", optarg, 1, COUNT_LIMIT);
            break;
        case TIMEOUT:
            options->pace.timeout_ns =
                (int64_t)option_number(PROGRAM, "--timeout", optarg, 1, TIMEOUT_LIMIT_MS) *
                NS_PER_MS;
            break;
        case TOKEN_FILE:
            option_token(PROGRAM, optarg, &options->pace.token);
            break;
        case JSON:
            options->json = true;
            break;
        case VERSION:
            puts("regatta-client " REGATTA_VERSION);
            exit(0);
        case 'h':
            exit(watch_help_print() == 0 ? 0 : 1);
        default:
            option_unknown(PROGRAM, option, arguments, "--watch --help");
        }
    }
    if (window && !options->question.recent)
        option_wrong(PROGRAM,
                     "--window is for --by recent; times in total are since the processes started");
    read_hosts(count - optind, arguments + optind, options);
}

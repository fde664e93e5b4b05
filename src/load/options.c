#include "load/options.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/number.h"

#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { EXIT_USAGE = 2, DURATION_LIMIT_S = 24 * 60 * 60, TIMEOUT_LIMIT_MS = 60 * 60 * 1000 };

static const char DEFAULT_TARGET[] = "127.0.0.1:7342";

static const char HELP[] =
    "Usage: regatta-client [OPTIONS] [HOST[:PORT]]\n"
    "\n"
    "Asks a regatta-server which processes use the most CPU time: over many connections at once,\n"
    "checking every reply, timing every request. The default is 127.0.0.1:7342.\n"
    "\n"
    "Examples:\n"
    "  regatta-client                       ask once and print the reply\n"
    "  regatta-client -c 5 -n 10            five connections at once, ten processes each\n"
    "  regatta-client -c 100 --rounds 20 --engine thread --quiet\n"
    "                                       twenty bursts of a hundred threads, the summary only\n"
    "  regatta-client -c 50 --load closed --duration 10 --dialect http\n"
    "                                       keep fifty HTTP connections busy for ten seconds\n"
    "  regatta-client -c 50 --load closed --per-connection 1 --json > result.json\n"
    "                                       a new connection for each request, result as JSON\n"
    "\n"
    "What to ask:\n"
    "  -c, --connections N   connections at the same time (1)\n"
    "  -n, --top N           processes in each reply, 1 to 64 (2)\n"
    "      --dialect D       line or http (line)\n"
    "      --timeout MS      a request, connecting included, fails after this time (10000)\n"
    "\n"
    "How:\n"
    "      --load L          burst: all connect at once, ask once, close (default)\n"
    "                        closed: each connection asks again as soon as it is answered\n"
    "      --rounds R        burst: so many bursts, one after the other (1)\n"
    "      --duration S      closed: for so many seconds, a fraction is allowed (5)\n"
    "      --per-connection K\n"
    "                        closed: reconnect after K requests; 0 keeps connections open (0)\n"
    "      --engine E        what makes the connections (epoll):\n";

static const char HELP_END[] =
    "      --cpus LIST       pin this program to CPUs such as 1, 0,2 or 1-3\n"
    "\n"
    "What to print and keep:\n"
    "      --quiet           the summary only (a closed load never prints its replies)\n"
    "      --json            the summary as one JSON object, and nothing else\n"
    "      --samples FILE    every request's start, first byte and end (docs/formats.md)\n"
    "      --gate-fd FD      start and stop the load as told over this socket (docs/formats.md)\n"
    "      --help            this text\n"
    "      --version         the version\n"
    "\n"
    "Exit status: 0 every request was answered correctly; 1 one was not, or something else "
    "failed;\n"
    "2 an option is wrong, and nothing was started.\n";

static _Noreturn void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

static _Noreturn void usage_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("regatta-client: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(EXIT_USAGE);
}

static _Noreturn void print_help(void) {
    fputs(HELP, stdout);
    for (const struct engine *const *engine = ENGINES; *engine != NULL; engine++)
        printf("                        %-6s  %s\n", (*engine)->name, (*engine)->summary);
    fputs(HELP_END, stdout);
    exit(fflush(stdout) == 0 ? 0 : 1);
}

static uint32_t read_number(const char *option, const char *text, uint32_t low, uint32_t high) {
    uint64_t number;
    if (number_parse(text, low, high, &number) != 0)
        usage_error("%s must be a number from %u to %u, not '%s'", option, low, high, text);
    return (uint32_t)number;
}

/* Seconds with a fraction; strtod alone would take "inf", "0x1p3" and " 5". */
static int64_t read_duration(const char *text) {
    char *end = NULL;
    double seconds = 0;
    if (text[0] != '\0' && strspn(text, "0123456789.") == strlen(text))
        seconds = strtod(text, &end);
    if (end == NULL || *end != '\0' || seconds < 0.001 || seconds > DURATION_LIMIT_S)
        usage_error("--duration must be seconds from 0.001 to %d, not '%s'", DURATION_LIMIT_S,
                    text);
    return (int64_t)(seconds * NS_PER_S);
}

static enum dialect read_dialect(const char *text) {
    if (strcmp(text, "line") != 0 && strcmp(text, "http") != 0)
        usage_error("unknown dialect '%s'; choose line or http", text);
    return text[0] == 'l' ? DIALECT_LINE : DIALECT_HTTP;
}

static enum shape read_shape(const char *text) {
    if (strcmp(text, "burst") != 0 && strcmp(text, "closed") != 0)
        usage_error("unknown load '%s'; choose burst or closed", text);
    return text[0] == 'b' ? SHAPE_BURST : SHAPE_CLOSED;
}

static const struct engine *read_engine(const char *text) {
    const struct engine *engine = engine_find(text);
    if (engine == NULL)
        usage_error("unknown engine '%s'; choose epoll, thread or fork", text);
    return engine;
}

static int read_gate(const char *text) {
    struct stat kind;
    int fd = (int)read_number("--gate-fd", text, 0, INT32_MAX);
    if (fstat(fd, &kind) != 0 || !S_ISSOCK(kind.st_mode))
        usage_error("--gate-fd %d is no open socket; pass one end of a socket pair", fd);
    return fd;
}

static void read_target(const char *text, struct load *load) {
    const char *problem = "";
    if (address_parse(text, DEFAULT_PORT, &load->address, &problem) != 0)
        usage_error("'%s': %s; give the server as HOST:PORT", text, problem);
    address_format(&load->address, load->target);
    /* The port lies at the same place in both families. */
    if (((const struct sockaddr_in *)&load->address.storage)->sin_port == 0)
        usage_error("'%s': nothing listens on port 0; give the server's port", text);
}

/* What was given, to tell an option that does not fit the load. */
struct given {
    bool rounds, duration, per_connection;
};

static void check(const struct options *options, struct given given) {
    const struct load *load = &options->load;
    if (load->shape == SHAPE_CLOSED && given.rounds)
        usage_error("--rounds is for --load burst; a closed load has a --duration");
    if (load->shape == SHAPE_BURST && given.duration)
        usage_error("--duration is for --load closed; a burst has --rounds");
    if (load->shape == SHAPE_BURST && given.per_connection)
        usage_error("--per-connection is for --load closed; in a burst each connection asks once");
    if (load->shape == SHAPE_BURST && (uint64_t)load->connections * load->rounds > SAMPLE_LIMIT)
        usage_error("--connections times --rounds may be %d at most; ask for less", SAMPLE_LIMIT);
}

void options_read(int count, char *arguments[], struct options *options) {
    enum {
        DIALECT = 256,
        ENGINE,
        LOAD,
        ROUNDS,
        DURATION,
        PER_CONNECTION,
        TIMEOUT,
        SAMPLES,
        JSON,
        QUIET,
        CPUS,
        GATE,
        VERSION,
        HELP_WANTED,
    };
    static const struct option KNOWN[] = {
        {"connections", required_argument, NULL, 'c'},
        {"top", required_argument, NULL, 'n'},
        {"dialect", required_argument, NULL, DIALECT},
        {"engine", required_argument, NULL, ENGINE},
        {"load", required_argument, NULL, LOAD},
        {"rounds", required_argument, NULL, ROUNDS},
        {"duration", required_argument, NULL, DURATION},
        {"per-connection", required_argument, NULL, PER_CONNECTION},
        {"timeout", required_argument, NULL, TIMEOUT},
        {"samples", required_argument, NULL, SAMPLES},
        {"json", no_argument, NULL, JSON},
        {"quiet", no_argument, NULL, QUIET},
        {"cpus", required_argument, NULL, CPUS},
        {"gate-fd", required_argument, NULL, GATE},
        {"version", no_argument, NULL, VERSION},
        {"help", no_argument, NULL, HELP_WANTED},
        {NULL, 0, NULL, 0},
    };
    struct given given = {false, false, false};
    *options = (struct options){
        .load = {.dialect = DIALECT_LINE,
                 .shape = SHAPE_BURST,
                 .engine = ENGINES[0],
                 .connections = 1,
                 .top = TOP_DEFAULT,
                 .rounds = 1,
                 .duration_ns = (int64_t)5 * NS_PER_S,
                 .timeout_ns = (int64_t)10 * NS_PER_S},
        .gate_fd = -1,
    };
    struct load *load = &options->load;
    opterr = 0;
    for (int option; (option = getopt_long(count, arguments, ":c:n:h", KNOWN, NULL)) != -1;) {
        switch (option) {
        case 'c':
            load->connections = read_number("--connections", optarg, 1, CONNECTION_LIMIT);
            break;
        case 'n':
            load->top = read_number("--top", optarg, 1, TOP_LIMIT);
            break;
        case DIALECT:
            load->dialect = read_dialect(optarg);
            break;
        case ENGINE:
            load->engine = read_engine(optarg);
            break;
        case LOAD:
            load->shape = read_shape(optarg);
            break;
        case ROUNDS:
            load->rounds = read_number("--rounds", optarg, 1, SAMPLE_LIMIT);
            given.rounds = true;
            break;
        case DURATION:
            load->duration_ns = read_duration(optarg);
            given.duration = true;
            break;
        case PER_CONNECTION:
            load->per_connection = read_number("--per-connection", optarg, 0, SAMPLE_LIMIT);
            given.per_connection = true;
            break;
        case TIMEOUT:
            load->timeout_ns =
                (int64_t)read_number("--timeout", optarg, 1, TIMEOUT_LIMIT_MS) * NS_PER_MS;
            break;
        case SAMPLES:
            options->samples_path = optarg;
            break;
        case JSON:
            options->json = true;
            break;
        case QUIET:
            options->quiet = true;
            break;
        case CPUS:
            options->cpus = optarg;
            break;
        case GATE:
            options->gate_fd = read_gate(optarg);
            break;
        case VERSION:
            puts("regatta-client " REGATTA_VERSION);
            exit(0);
        case 'h':
        case HELP_WANTED:
            print_help();
        case ':':
            usage_error("%s needs a value; see --help", arguments[optind - 1]);
        default:
            if (optopt > 0 && optopt < DIALECT) /* a letter, perhaps amid others */
                usage_error("unknown option -%c; see --help", optopt);
            if (optopt != 0)
                usage_error("%s takes no value; see --help", arguments[optind - 1]);
            usage_error("unknown option %s; see --help", arguments[optind - 1]);
        }
    }
    if (count - optind > 1)
        usage_error("one HOST:PORT at most, and there is also '%s'", arguments[optind + 1]);
    check(options, given);
    read_target(optind < count ? arguments[optind] : DEFAULT_TARGET, load);
}

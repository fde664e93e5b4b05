#include "programs/load_options.h"

#include "base/clock.h"
#include "base/limits.h"
#include "engines/engines.h"
#include "programs/load_help.h"
#include "programs/option.h"

#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    DURATION_LIMIT_S = 24 * 60 * 60,
    TIMEOUT_LIMIT_MS = 60 * 60 * 1000,
    RATE_LIMIT_PER_S = 10 * 1000 * 1000,
};

static const char DEFAULT_TARGET[] = "127.0.0.1:7342";

static const char PROGRAM[] = "regatta-client";

static enum dialect read_dialect(const char *text) {
    if (strcmp(text, "line") != 0 && strcmp(text, "http") != 0)
        option_wrong(PROGRAM, "unknown dialect '%s'; choose line or http", text);
    return text[0] == 'l' ? DIALECT_LINE : DIALECT_HTTP;
}

/* As it goes into the request line. */
static const char *read_path(const char *text) {
    bool fits = text[0] == '/' && strlen(text) <= PATH_LIMIT;
    for (const char *at = text; *at != '\0'; at++)
        fits = fits && *at > ' ' && *at <= '~' && *at != '#';
    if (!fits)
        option_wrong(PROGRAM,
                     "--path must begin with / and have %d characters at most; write spaces, # and "
                     "what is not ASCII as %%20",
                     PATH_LIMIT);
    return text;
}

static enum shape read_shape(const char *text) {
    for (enum shape shape = SHAPE_BURST; shape <= SHAPE_OPEN; shape++)
        if (strcmp(text, shape_name(shape)) == 0)
            return shape;
    option_wrong(PROGRAM, "unknown load '%s'; choose burst, closed or open", text);
}

static enum arrivals read_arrivals(const char *text) {
    for (enum arrivals arrivals = ARRIVALS_EVEN; arrivals <= ARRIVALS_POISSON; arrivals++)
        if (strcmp(text, arrivals_name(arrivals)) == 0)
            return arrivals;
    option_wrong(PROGRAM, "unknown arrivals '%s'; choose even or poisson", text);
}

static const struct engine *read_engine(const char *text) {
    const struct engine *engine = engine_find(text);
    if (engine == NULL)
        option_wrong(PROGRAM, "unknown engine '%s'; choose epoll, thread or fork", text);
    return engine;
}

static int read_gate(const char *text) {
    struct stat kind;
    int fd = (int)option_number(PROGRAM, "--gate-fd", text, 0, INT32_MAX);
    if (fstat(fd, &kind) != 0 || !S_ISSOCK(kind.st_mode))
        option_wrong(PROGRAM, "--gate-fd %d is not an open socket; pass one end of a socket pair",
                     fd);
    return fd;
}

static void read_sources(const char *text, struct sources *sources) {
    const char *problem = "";
    if (sources_parse(sources, text, &problem) != 0)
        option_wrong(PROGRAM, "--sources %s: %s", text, problem);
}

static void read_target(const char *text, struct load *load) {
    const char *problem = "";
    if (address_parse(text, DEFAULT_PORT, &load->address, &problem) != 0)
        option_wrong(PROGRAM, "'%s': %s; give the server as HOST:PORT", text, problem);
    address_format(&load->address, load->target);
    /* The port has the same offset in both families. */
    if (((const struct sockaddr_in *)&load->address.storage)->sin_port == 0)
        option_wrong(PROGRAM, "'%s': no server listens on port 0; give the server's port", text);
}

enum {
    DIALECT = 256,
    PATH,
    ENGINE,
    LOAD,
    ROUNDS,
    DURATION,
    PER_CONNECTION,
    RATE,
    ARRIVALS,
    SEED,
    IDLE,
    SLOW,
    SOURCES,
    TOKEN_FILE,
    TIMEOUT,
    SAMPLES,
    JSON,
    QUIET,
    CPUS,
    GATE,
    VERSION,
    OPTION_END,
};

/* Options that fit only some loads. */
static void check_shape(enum shape shape, const bool given[OPTION_END]) {
    enum { BURST = 1 << SHAPE_BURST, CLOSED = 1 << SHAPE_CLOSED, OPEN = 1 << SHAPE_OPEN };
    static const struct {
        int option;
        unsigned fits;
        const char *name, *loads;
    } OPTIONS[] = {
        {ROUNDS, BURST, "--rounds", "burst"},
        {DURATION, CLOSED | OPEN, "--duration", "closed and open"},
        {PER_CONNECTION, CLOSED | OPEN, "--per-connection", "closed and open"},
        {RATE, OPEN, "--rate", "open"},
        {ARRIVALS, OPEN, "--arrivals", "open"},
        {SEED, OPEN, "--seed", "open"},
    };
    for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++)
        if (given[OPTIONS[i].option] && (OPTIONS[i].fits & 1U << shape) == 0)
            option_wrong(PROGRAM, "%s is for --load %s, not for %s; see --help", OPTIONS[i].name,
                         OPTIONS[i].loads, shape_name(shape));
}

static void check_sources(const struct load *load) {
    char wrong[ADDRESS_TEXT_LIMIT];
    int outcome = sources_check(&load->sources, &load->address, wrong);
    if (outcome == -EAFNOSUPPORT)
        option_wrong(PROGRAM, "--sources: %s and the target %s are not both IPv4 or IPv6", wrong,
                     load->target);
    if (outcome != 0)
        option_wrong(
            PROGRAM,
            "--sources: %s cannot be used (%s); see the addresses of this host: ip address", wrong,
            strerrordesc_np(-outcome));
}

static void check(const struct load *load, const bool given[OPTION_END]) {
    check_shape(load->shape, given);
    if (load->path != NULL && load->dialect != DIALECT_HTTP)
        option_wrong(PROGRAM, "--path is for --dialect http");
    if (load->path != NULL && given['n'])
        option_wrong(PROGRAM,
                     "--path and --top exclude each other: the path says what is asked for");
    if (load->shape == SHAPE_OPEN && !given[RATE])
        option_wrong(PROGRAM, "--load open needs --rate R, the requests a second");
    if (given[SEED] && load->arrivals != ARRIVALS_POISSON)
        option_wrong(PROGRAM, "--seed is for --arrivals poisson; even arrivals are not random");
    if (load->shape == SHAPE_OPEN && load->engine != &engine_epoll)
        option_wrong(PROGRAM,
                     "--load open needs --engine epoll: one thread keeps the schedule for all");
    if (load->idle_count + load->slow_count > 0 && load->engine != &engine_epoll)
        option_wrong(PROGRAM,
                     "--idle and --slow need --engine epoll: one thread serves all of them");
    if (load->shape == SHAPE_BURST && load_request_limit(load) > SAMPLE_LIMIT)
        option_wrong(PROGRAM, "--connections times --rounds may be %d at most; ask for less",
                     SAMPLE_LIMIT);
    if (load->rate_per_s * (double)load->duration_ns / NS_PER_S > SAMPLE_LIMIT)
        option_wrong(PROGRAM, "--rate times --duration may be %d at most; ask for less",
                     SAMPLE_LIMIT);
}

void load_options_read(int count, char *arguments[], struct load_options *options) {
    static const struct option KNOWN[] = {
        {"connections", required_argument, NULL, 'c'},
        {"top", required_argument, NULL, 'n'},
        {"dialect", required_argument, NULL, DIALECT},
        {"path", required_argument, NULL, PATH},
        {"engine", required_argument, NULL, ENGINE},
        {"load", required_argument, NULL, LOAD},
        {"rounds", required_argument, NULL, ROUNDS},
        {"duration", required_argument, NULL, DURATION},
        {"per-connection", required_argument, NULL, PER_CONNECTION},
        {"rate", required_argument, NULL, RATE},
        {"arrivals", required_argument, NULL, ARRIVALS},
        {"seed", required_argument, NULL, SEED},
        {"idle", required_argument, NULL, IDLE},
        {"slow", required_argument, NULL, SLOW},
        {"sources", required_argument, NULL, SOURCES},
        {"token-file", required_argument, NULL, TOKEN_FILE},
        {"timeout", required_argument, NULL, TIMEOUT},
        {"samples", required_argument, NULL, SAMPLES},
        {"json", no_argument, NULL, JSON},
        {"quiet", no_argument, NULL, QUIET},
        {"cpus", required_argument, NULL, CPUS},
        {"gate-fd", required_argument, NULL, GATE},
        {"version", no_argument, NULL, VERSION},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    bool given[OPTION_END] = {false};
    *options = (struct load_options){
        .load = {.dialect = DIALECT_LINE,
                 .shape = SHAPE_BURST,
                 .engine = engines[0],
                 .connections = 1,
                 .top = TOP_DEFAULT,
                 .rounds = 1,
                 .duration_ns = (int64_t)5 * NS_PER_S,
                 .timeout_ns = (int64_t)10 * NS_PER_S,
                 .seed = 1},
        .gate_fd = -1,
    };
    struct load *load = &options->load;
    opterr = 0;
    for (int option; (option = getopt_long(count, arguments, ":c:n:h", KNOWN, NULL)) != -1;) {
        given[option] = true;
        switch (option) {
        case 'c':
            load->connections =
                option_number(PROGRAM, "--connections", optarg, 1, CONNECTION_LIMIT);
            break;
        case 'n':
            load->top = option_number(PROGRAM, "--top", optarg, 1, TOP_LIMIT);
            break;
        case DIALECT:
            load->dialect = read_dialect(optarg);
            break;
        case PATH:
            load->path = read_path(optarg);
            load->top = 0;
            break;
        case ENGINE:
            load->engine = read_engine(optarg);
            break;
        case LOAD:
            load->shape = read_shape(optarg);
            break;
        case ROUNDS:
            load->rounds = option_number(PROGRAM, "--rounds", optarg, 1, SAMPLE_LIMIT);
            break;
        case DURATION:
            load->duration_ns = (int64_t)(option_decimal(PROGRAM, "--duration", "a number", optarg,
                                                         0.001, DURATION_LIMIT_S) *
                                          NS_PER_S);
            break;
        case PER_CONNECTION:
            load->per_connection =
                option_number(PROGRAM, "--per-connection", optarg, 0, SAMPLE_LIMIT);
            break;
        case RATE:
            load->rate_per_s =
                option_decimal(PROGRAM, "--rate", "a number", optarg, 0.001, RATE_LIMIT_PER_S);
            break;
        case ARRIVALS:
            load->arrivals = read_arrivals(optarg);
            break;
        case SEED:
            load->seed = option_number(PROGRAM, "--seed", optarg, 0, UINT32_MAX);
            break;
        case IDLE:
            load->idle_count = option_number(PROGRAM, "--idle", optarg, 0, CONNECTION_LIMIT);
            break;
        case SLOW:
            load->slow_count = option_number(PROGRAM, "--slow", optarg, 0, CONNECTION_LIMIT);
            break;
        case SOURCES:
            read_sources(optarg, &load->sources);
            break;
        case TOKEN_FILE:
            option_token(PROGRAM, optarg, &load->token);
            break;
        case TIMEOUT:
            load->timeout_ns =
                (int64_t)option_number(PROGRAM, "--timeout", optarg, 1, TIMEOUT_LIMIT_MS) *
                NS_PER_MS;
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
            exit(load_help_print() == 0 ? 0 : 1);
        default:
            option_unknown(PROGRAM, option, arguments, "--help");
        }
    }
    if (count - optind > 1)
        option_wrong(PROGRAM, "one HOST:PORT at most, and there is also '%s'",
                     arguments[optind + 1]);
    check(load, given);
    read_target(optind < count ? arguments[optind] : DEFAULT_TARGET, load);
    check_sources(load);
}

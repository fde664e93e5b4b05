#include "programs/load_options.h"

#include "base/clock.h"
#include "base/limits.h"
#include "client/engines/carrier.h"
#include "client/engines/connect.h"
#include "client/engines/engines.h"
#include "client/load/request_file.h"
#include "programs/help.h"
#include "programs/option.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
    DURATION_LIMIT_S = 24 * 60 * 60,
    TIMEOUT_LIMIT_MS = 60 * 60 * 1000,
    TARGET_ADDRESSES = 16,
    THREAD_LIMIT = 1024,
    STREAM_LIMIT = 10 * 1000,
    RATE_LIMIT_PER_S = 10 * 1000 * 1000,
    HOST_LIMIT = 96, /* within ADDED_LIMIT of request.c */
};

static const char DEFAULT_TARGET[] = "127.0.0.1:7342";

static const char PROGRAM[] = "regatta-client";

static void read_dialect(const char *text, void *into) {
    struct load_options *options = into;
    if (strcmp(text, "line") != 0 && strcmp(text, "http") != 0)
        option_wrong(PROGRAM, "unknown dialect '%s'; choose line or http", text);
    options->load.dialect = text[0] == 'l' ? DIALECT_LINE : DIALECT_HTTP;
}

/* Goes into the request line unchanged. */
static void read_path(const char *text, void *into) {
    struct load_options *options = into;
    bool fits = text[0] == '/' && strlen(text) <= PATH_LIMIT;
    for (const char *at = text; *at != '\0'; at++)
        fits = fits && *at > ' ' && *at <= '~' && *at != '#';
    if (!fits)
        option_wrong(PROGRAM,
                     "--path must begin with / and have %d characters at most; write spaces, # and "
                     "what is not ASCII as %%20",
                     PATH_LIMIT);
    options->load.path = text;
    options->load.top = 0;
}

/* Goes into the Host header unchanged. */
static void read_host(const char *text, void *into) {
    struct load_options *options = into;
    bool fits = text[0] != '\0' && strlen(text) <= HOST_LIMIT;
    for (const char *at = text; *at != '\0'; at++)
        fits = fits && *at > ' ' && *at <= '~';
    if (!fits)
        option_wrong(PROGRAM, "--host must be NAME or NAME:PORT of at most %d characters",
                     HOST_LIMIT);
    options->load.host = text;
}

static void read_line(const char *text, void *into) {
    struct load_options *options = into;
    options->load.line = text;
    options->load.top = 0;
}

/* Sent unchanged, with a line feed. */
static void check_line(const char *text) {
    bool fits = text[0] != '\0' && strlen(text) <= PATH_LIMIT;
    for (const char *at = text; *at != '\0'; at++)
        fits = fits && *at >= ' ' && *at <= '~';
    if (!fits)
        option_wrong(PROGRAM, "--request must be a line of 1 to %d printable ASCII characters",
                     PATH_LIMIT);
}

/* With --until: sent with its escapes replaced, and with no line feed. */
static void read_raw(struct load *load) {
    static char bytes[PATH_LIMIT];
    static struct written_request only = {.weight = 1};
    size_t length = strlen(load->line);
    ptrdiff_t unescaped = -1;
    if (length <= PATH_LIMIT)
        unescaped = request_unescape((struct slice){load->line, length}, bytes);
    if (unescaped <= 0)
        option_wrong(PROGRAM,
                     "--request must be 1 to %d characters, in which a backslash is one of \\r "
                     "\\n \\t \\\\ \\xHH",
                     PATH_LIMIT);
    only.text = (struct slice){bytes, (size_t)unescaped};
    load->listed = (struct request_list){.written = &only, .count = 1};
}

static void read_requests(struct load *load, const char *path) {
    char problem[REQUEST_PROBLEM_LIMIT];
    if (request_file_read(path, load->dialect, &load->listed, problem) != 0)
        option_wrong(PROGRAM, "--requests %s: %s", path, problem);
    load->top = 0;
}

static void read_body(struct load *load, const char *path, bool is_grpc) {
    char problem[REQUEST_PROBLEM_LIMIT];
    if (request_body_read(path, load->path, is_grpc, &load->listed, problem) != 0)
        option_wrong(PROGRAM, "--%s %s: %s", is_grpc ? "grpc" : "body", path, problem);
}

static void read_expected(struct load *load, const char *path) {
    char problem[EXPECT_PROBLEM_LIMIT];
    uint32_t requests = load->listed.count > 0 ? load->listed.count : 1;
    if (expect_file_read(path, &load->expected, problem) != 0)
        option_wrong(PROGRAM, "--expect %s: %s", path, problem);
    if (load->expected.count != requests)
        option_wrong(PROGRAM,
                     "--expect %s: it has %u lines for %u requests; it must have one for "
                     "each, in their order",
                     path, load->expected.count, requests);
}

static void read_until(struct load *load, const char *pattern) {
    static struct until until;
    const char *problem = "";
    if (until_compile(&until, pattern, &problem) != 0)
        option_wrong(PROGRAM, "--until: %s", problem);
    load->until = &until;
}

static void read_shape(const char *text, void *into) {
    struct load_options *options = into;
    for (enum shape shape = SHAPE_BURST; shape <= SHAPE_OPEN; shape++)
        if (strcmp(text, shape_name(shape)) == 0) {
            options->load.shape = shape;
            return;
        }
    option_wrong(PROGRAM, "unknown load '%s'; choose burst, closed or open", text);
}

static void read_arrivals(const char *text, void *into) {
    struct load_options *options = into;
    for (enum arrivals arrivals = ARRIVALS_EVEN; arrivals <= ARRIVALS_POISSON; arrivals++)
        if (strcmp(text, arrivals_name(arrivals)) == 0) {
            options->load.arrivals = arrivals;
            return;
        }
    option_wrong(PROGRAM, "unknown arrivals '%s'; choose even or poisson", text);
}

static void read_engine(const char *text, void *into) {
    struct load_options *options = into;
    options->load.engine = engine_find(text);
    if (options->load.engine == NULL)
        option_wrong(PROGRAM, "unknown engine '%s'; choose epoll, thread or fork", text);
}

static void read_duration(const char *text, void *into) {
    struct load_options *options = into;
    double duration_s =
        option_decimal(PROGRAM, "--duration", "a number", text, 0.001, DURATION_LIMIT_S);
    options->load.duration_ns = (int64_t)(duration_s * NS_PER_S);
}

static void read_rate(const char *text, void *into) {
    struct load_options *options = into;
    options->load.rate_per_s =
        option_decimal(PROGRAM, "--rate", "a number", text, 0.001, RATE_LIMIT_PER_S);
}

static void read_gate(const char *text, void *into) {
    struct load_options *options = into;
    struct stat kind;
    int fd = (int)option_number(PROGRAM, "--gate-fd", text, 0, INT32_MAX);
    if (fstat(fd, &kind) != 0 || !S_ISSOCK(kind.st_mode))
        option_wrong(PROGRAM, "--gate-fd %d is not an open socket; pass one end of a socket pair",
                     fd);
    options->gate_fd = fd;
}

static void read_sources(const char *text, void *into) {
    struct load_options *options = into;
    const char *problem = "";
    if (sources_parse(&options->load.sources, text, &problem) != 0)
        option_wrong(PROGRAM, "--sources %s: %s", text, problem);
}

static void read_token(const char *path, void *into) {
    struct load_options *options = into;
    option_token(PROGRAM, path, &options->load.token);
}

/* Moves the addresses of a family to the front. Returns how many, or `count` if there is none. */
static int of_family(struct address *list, int count, sa_family_t family) {
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (list[i].storage.ss_family == family)
            list[kept++] = list[i];
    return kept > 0 ? kept : count;
}

/* Whom the certificate must name: the host of --host, or of the target. */
static void read_tls_host(const char *target, struct load *load) {
    static char host[PATH_LIMIT];
    struct slice name = {load->host != NULL ? load->host : target, 0}, inside = {NULL, 0};
    name.length = strlen(name.bytes);
    const char *colon = strrchr(name.bytes, ':');
    if (name.bytes[0] == '[') { /* an IPv6 address */
        inside = slice_after(name, 1);
        slice_cut(&inside, ']', &name);
    } else if (colon != NULL && strchr(name.bytes, ':') == colon) {
        name.length = (size_t)(colon - name.bytes);
    }
    snprintf(host, sizeof host, "%.*s", (int)name.length, name.bytes);
    load->tls_host = host;
}

/* http://, https://, ws:// and wss:// say what is spoken. Returns HOST:PORT. */
static const char *read_scheme(const char *text, struct load *load) {
    static const char *const SCHEMES[] = {"http://", "https://", "ws://", "wss://"};
    static char target[PATH_LIMIT];
    size_t scheme = 0;
    while (scheme < 4 && strncmp(text, SCHEMES[scheme], strlen(SCHEMES[scheme])) != 0)
        scheme++;
    if (scheme == 4)
        return text;
    const bool is_tls = scheme % 2 != 0;
    const char *host = text + strlen(SCHEMES[scheme]);
    const size_t length = strcspn(host, "/");
    if (host[length] == '/' && host[length + 1] != '\0')
        option_wrong(PROGRAM, "'%s': give the path as --path %s", text, host + length);
    load->dialect = DIALECT_HTTP;
    load->is_tls |= is_tls;
    load->is_websocket |= scheme >= 2;
    const bool has_port = memchr(host, ':', length) != NULL && host[length - 1] != ']';
    snprintf(target, sizeof target, "%.*s%s", (int)length, host,
             has_port ? ""
             : is_tls ? ":443"
                      : ":80");
    return target;
}

static void read_target(const char *text, struct load *load) {
    const char *problem = "";
    struct address found[TARGET_ADDRESSES];
    int count = address_parse_all(text, DEFAULT_PORT, false, found, TARGET_ADDRESSES, &problem);
    if (count < 0)
        option_wrong(PROGRAM, "'%s': %s; give the server as HOST:PORT", text, problem);
    if (load->sources.count > 0)
        count = of_family(found, count, sources_family(&load->sources));
    read_tls_host(text, load);
    connect_choose(load, found, (unsigned)count);
    address_format(&load->address, load->target);
    /* The port has the same offset in both families. */
    if (((const struct sockaddr_in *)&load->address.storage)->sin_port == 0)
        option_wrong(PROGRAM, "'%s': no server listens on port 0; give the server's port", text);
}

/* Options that fit only some loads. */
static void check_shape(enum shape shape, const struct option_row *rows) {
    enum { BURST = 1 << SHAPE_BURST, CLOSED = 1 << SHAPE_CLOSED, OPEN = 1 << SHAPE_OPEN };
    static const struct {
        const char *name;
        unsigned fits;
        const char *loads;
    } OPTIONS[] = {
        {"rounds", BURST, "burst"},
        {"duration", CLOSED | OPEN, "closed and open"},
        {"per-connection", CLOSED | OPEN, "closed and open"},
        {"threads", CLOSED | OPEN, "closed and open"},
        {"rate", OPEN, "open"},
        {"arrivals", OPEN, "open"},
        {"seed", OPEN, "open"},
    };
    for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++)
        if (option_is_given(rows, OPTIONS[i].name) && (OPTIONS[i].fits & 1U << shape) == 0)
            option_wrong(PROGRAM, "--%s is for --load %s, not for %s; see --help", OPTIONS[i].name,
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

/* The one request is a message. */
static void check_message(const struct load *load, const struct option_row *rows) {
    static const char *const OTHERS[] = {"http2", "requests", "expect", "events", "top"};
    for (size_t i = 0; load->is_websocket && i < sizeof OTHERS / sizeof *OTHERS; i++)
        if (option_is_given(rows, OTHERS[i]))
            option_wrong(PROGRAM, "--%s is not for WebSocket", OTHERS[i]);
}

/* TLS, HTTP/2 and WebSocket. */
static void check_carried(const struct load *load, const struct option_row *rows) {
    static const char *const OF_TLS[] = {"insecure", "cafile", "resume"};
    for (size_t i = 0; i < sizeof OF_TLS / sizeof *OF_TLS; i++)
        if (option_is_given(rows, OF_TLS[i]) && !load->is_tls)
            option_wrong(PROGRAM, "--%s is for --tls", OF_TLS[i]);
    if (option_is_given(rows, "grpc") && (!load->is_http2 || load->path == NULL))
        option_wrong(PROGRAM, "--grpc needs --http2 and --path /PACKAGE.SERVICE/METHOD");
    if (option_is_given(rows, "grpc") && option_is_given(rows, "body"))
        option_wrong(PROGRAM, "--grpc and --body exclude each other: both are the body");
    if (load->streams > 1 && !load->is_http2)
        option_wrong(PROGRAM, "--streams is for --http2: HTTP/1.1 answers one request at a time");
    if (!load_is_carried(load))
        return;
    const char *first = load->is_websocket ? "websocket" : load->is_http2 ? "http2" : "tls";
    if (carriage_missing() != NULL)
        option_wrong(PROGRAM, "--%s: %s", first, carriage_missing());
    if (load->engine != &engine_epoll)
        option_wrong(PROGRAM, "--%s needs --engine epoll", first);
    if (load->idle_count + load->slow_count > 0)
        option_wrong(PROGRAM, "--idle and --slow are for HTTP/1.1 without TLS or WebSocket");
    if (load->dialect != DIALECT_HTTP)
        option_wrong(PROGRAM, "--%s is for --dialect http", first);
    if (load->is_http2 && !option_is_given(rows, "path") && !option_is_given(rows, "requests"))
        option_wrong(PROGRAM, "--http2 needs --path or --requests");
    if (load->streams > 1 && load->per_connection > 0)
        option_wrong(PROGRAM, "--per-connection needs --streams 1");
    if ((uint64_t)load->connections * load->streams > CONNECTION_LIMIT)
        option_wrong(PROGRAM, "--connections times --streams must be at most %d", CONNECTION_LIMIT);
}

/* Options that choose the requests exclude each other. */
static void check_asked(const struct load *load, const struct option_row *rows) {
    static const char *const NAMES[] = {"path", "request", "requests", "top"};
    const char *first = NULL;
    if (load->path != NULL && load->dialect != DIALECT_HTTP)
        option_wrong(PROGRAM, "--path is for --dialect http");
    if (load->host != NULL && load->dialect != DIALECT_HTTP)
        option_wrong(PROGRAM, "--host is for --dialect http");
    if (load->line != NULL && load->dialect != DIALECT_LINE)
        option_wrong(PROGRAM, "--request is for --dialect line");
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (!option_is_given(rows, NAMES[i]))
            continue;
        if (first != NULL)
            option_wrong(PROGRAM, "--%s and --%s exclude each other: both choose the request",
                         first, NAMES[i]);
        first = NAMES[i];
    }
    if (option_is_given(rows, "body") && load->path == NULL)
        option_wrong(PROGRAM, "--body needs --path, to which it is posted");
    static const char *const OF_ANY[] = {"expect", "events"};
    const bool is_any = load->dialect == DIALECT_HTTP && first != NULL && strcmp(first, "top") != 0;
    for (size_t i = 0; i < sizeof OF_ANY / sizeof *OF_ANY; i++)
        if (option_is_given(rows, OF_ANY[i]) && !is_any)
            option_wrong(PROGRAM, "--%s is for --path or --requests of --dialect http", OF_ANY[i]);
    if (load->has_events && option_is_given(rows, "expect"))
        option_wrong(PROGRAM, "--events and --expect exclude each other");
    if (!option_is_given(rows, "until"))
        return;
    if (load->dialect != DIALECT_LINE || first == NULL || strcmp(first, "top") == 0)
        option_wrong(PROGRAM, "--until is for --request or --requests of --dialect line");
    if (load->token.length > 0)
        option_wrong(PROGRAM, "--until and --token-file exclude each other");
}

/* What is asked, once the dialect is known. */
static void read_asked(const struct load_options *options, struct load *load) {
    if (options->until != NULL)
        read_until(load, options->until);
    if (options->requests_path != NULL)
        read_requests(load, options->requests_path);
    else if (options->grpc_path != NULL)
        read_body(load, options->grpc_path, true);
    else if (options->body_path != NULL)
        read_body(load, options->body_path, false);
    else if (load->line != NULL && load->until != NULL)
        read_raw(load);
    else if (load->line != NULL)
        check_line(load->line);
    if (options->expect_path != NULL)
        read_expected(load, options->expect_path);
}

static void check(const struct load *load, const struct option_row *rows) {
    check_shape(load->shape, rows);
    check_message(load, rows);
    check_asked(load, rows);
    check_carried(load, rows);
    if (load->shape == SHAPE_OPEN && !option_is_given(rows, "rate"))
        option_wrong(PROGRAM, "--load open needs --rate R, the requests a second");
    if (option_is_given(rows, "seed") && load->arrivals != ARRIVALS_POISSON)
        option_wrong(PROGRAM, "--seed is for --arrivals poisson; even arrivals are not random");
    if (load->shape == SHAPE_OPEN && load->engine != &engine_epoll)
        option_wrong(PROGRAM,
                     "--load open needs --engine epoll: its threads keep the schedule for all");
    if (load->idle_count + load->slow_count > 0 && load->engine != &engine_epoll)
        option_wrong(PROGRAM,
                     "--idle and --slow need --engine epoll: one thread serves all of them");
    if (load->has_events && load->engine != &engine_epoll)
        option_wrong(PROGRAM, "--events needs --engine epoll");
    if (option_is_given(rows, "threads") && load->engine != &engine_epoll)
        option_wrong(PROGRAM, "--threads is for --engine epoll; the others have one for each "
                              "connection, or a process");
    if (load->threads > load->connections)
        option_wrong(PROGRAM, "--threads must be at most --connections, %u: each needs one",
                     load->connections);
    if (load->shape == SHAPE_BURST && load_request_limit(load) > SAMPLE_LIMIT)
        option_wrong(PROGRAM, "--connections times --rounds must be at most %d; lower one of them",
                     SAMPLE_LIMIT);
    if (load->rate_per_s * (double)load->duration_ns / NS_PER_S > SAMPLE_LIMIT)
        option_wrong(PROGRAM, "--rate times --duration must be at most %d; lower one of them",
                     SAMPLE_LIMIT);
}

void load_options_read(int count, char *arguments[], struct load_options *options) {
    static const struct option_program program = {PROGRAM, "--help", load_help};
    *options = (struct load_options){
        .load = {.dialect = DIALECT_LINE,
                 .shape = SHAPE_BURST,
                 .engine = engines[0],
                 .connections = 1,
                 .top = TOP_DEFAULT,
                 .rounds = 1,
                 .duration_ns = (int64_t)5 * NS_PER_S,
                 .timeout_ns = (int64_t)10 * NS_PER_S,
                 .seed = 1,
                 .streams = 1},
        .gate_fd = -1,
    };
    struct load *load = &options->load;
    struct option_row rows[] = {
        {"connections", 'c', .number = &load->connections, .low = 1, .high = CONNECTION_LIMIT},
        {"top", 'n', .number = &load->top, .low = 1, .high = TOP_LIMIT},
        {"dialect", .read = read_dialect},
        {"path", .read = read_path},
        {"host", .read = read_host},
        {"request", .read = read_line},
        {"requests", .text = &options->requests_path},
        {"grpc", .text = &options->grpc_path},
        {"body", .text = &options->body_path},
        {"expect", .text = &options->expect_path},
        {"until", .text = &options->until},
        {"tls", .set = &load->is_tls},
        {"insecure", .set = &load->is_insecure},
        {"cafile", .text = &load->cafile},
        {"resume", .set = &load->resumes},
        {"http2", .set = &load->is_http2},
        {"events", .number = &load->event_limit, .high = SAMPLE_LIMIT},
        {"websocket", .set = &load->is_websocket},
        {"streams", .number = &load->streams, .low = 1, .high = STREAM_LIMIT},
        {"engine", .read = read_engine},
        {"threads", .number = &load->threads, .low = 1, .high = THREAD_LIMIT},
        {"load", .read = read_shape},
        {"rounds", .number = &load->rounds, .low = 1, .high = SAMPLE_LIMIT},
        {"duration", .read = read_duration},
        {"per-connection", .number = &load->per_connection, .high = SAMPLE_LIMIT},
        {"rate", .read = read_rate},
        {"arrivals", .read = read_arrivals},
        {"seed", .number = &load->seed, .high = UINT32_MAX},
        {"idle", .number = &load->idle_count, .high = CONNECTION_LIMIT},
        {"slow", .number = &load->slow_count, .high = CONNECTION_LIMIT},
        {"sources", .read = read_sources},
        {"token-file", .read = read_token},
        {"timeout", .amount = &load->timeout_ns, .unit = NS_PER_MS, .low = 1,
         .high = TIMEOUT_LIMIT_MS},
        {"samples", .text = &options->samples_path},
        {"json", .set = &options->json},
        {"quiet", .set = &options->quiet},
        {"cpus", .text = &options->cpus},
        {"gate-fd", .read = read_gate},
        {NULL},
    };
    int first = options_read(&program, count, arguments, rows, options);
    const char *target = first < count ? read_scheme(arguments[first], load) : DEFAULT_TARGET;
    if (count - first > 1)
        option_wrong(PROGRAM, "only one HOST:PORT is allowed; unexpected '%s'",
                     arguments[first + 1]);
    if (load->is_websocket && load->path == NULL)
        read_path("/", options);
    load->has_events = option_is_given(rows, "events");
    check(load, rows);
    read_asked(options, load);
    read_target(target, load);
    check_sources(load);
}

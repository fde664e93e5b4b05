#include "server/options.h"

#include "base/limits.h"
#include "base/number.h"
#include "base/text.h"
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { USAGE_ERROR = 2, MAX_MS = 24 * 3600 * 1000 };

/* A sanitizer traces the process at its end, to find leaks: in the sandbox nobody may. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool sandbox_by_default = false;
#else
static const bool sandbox_by_default = true;
#endif

static const char help[] =
    "Usage: regatta-server [OPTION]...\n"
    "\n"
    "Answers which processes of this host have used the most CPU time, under the server\n"
    "design that you choose.\n"
    "\n"
    "  -d, --design NAME        how clients are served (default: select); see --list-designs\n"
    "  -l, --listen HOST[:PORT] where (default: 127.0.0.1:7342; IPv6: [::1]:7342; port 0: any)\n"
    "  -w, --work WORK          what each request costs (default: scan):\n"
    "                             scan       a fresh look at all processes\n"
    "                             classic    the same by opendir, fopen and fscanf, as five "
    "reports\n"
    "                                        did, with nothing kept that one could use\n"
    "                             snapshot   one look shared by all, no older than --max-age\n"
    "                             wait=5ms   sleep that long, as on a database, then snapshot\n"
    "                             spin=50us  compute that long, then snapshot\n"
    "                             scan+spin=50us  compute that long, then scan\n"
    "                             classic+spin=50us  compute that long, then classic\n"
    "                           (a whole number of us, ms or s, from 1us to 60s)\n"
    "      --max-age MS         age that a snapshot may have, 0 to 86400000 (default: 1000)\n"
    "      --source SOURCE      where process times are read from: auto, procfs, bpf\n"
    "                           (default: auto, the best that is permitted)\n"
    "      --no-recorder        take no reading every second: what was used recently is then\n"
    "                           known only from the readings that requests take\n"
    "      --backlog N          connections that may wait for accept (default: 4096)\n"
    "      --defer-accept       accept a client when it has asked something, not before: cheaper\n"
    "                           for clients that ask at once; silent ones are the kernel's\n"
    "      --max-connections N  clients at a time; more are refused (default: 65536)\n"
    "      --allow NETWORKS     who may connect, such as 10.0.0.0/8,2001:db8::/32,192.0.2.7\n"
    "                           (default: any address)\n"
    "      --token-file FILE    clients must know what this file holds: 16 to 256 characters, in\n"
    "                           one line, that only the file's owner may read\n"
    "      --no-token           they need not know anything. Listening where other hosts can\n"
    "                           connect needs --allow, and one of --token-file and --no-token\n"
    "      --idle-timeout MS    a client this long silent is closed (default: 30000)\n"
    "      --workers N          processes or threads of a pool (default: 16; one for each CPU\n"
    "                           in reactors and uring-reactors)\n"
    "      --cpus LIST          pin to these CPUs, for instance 0 or 0,2-3\n"
    "      --user NAME          who it is when root started it (default: regatta-server if there "
    "is\n"
    "                           such a user, else nobody; root: it stays root)\n"
    "      --sandbox on|off     give up all rights that serving does not take (default: on)\n"
    "      --ready-fd FD        write `ready HOST:PORT` to this descriptor when serving\n"
    "      --summary FILE       write what was served, and what it cost, as JSON at exit\n"
    "  -v, --verbose            print each client's address, port and request\n"
    "                           (the default where stdout is a terminal; -q, --quiet: not)\n"
    "      --list-designs       print the designs, with --json as JSON\n"
    "      --list-sandbox       print what is given up here, with --json as JSON\n"
    "      --version            print the version\n"
    "  -h, --help               print this\n"
    "\n"
    "Try it:\n"
    "  regatta-server --design thread-per-client    in one terminal, and in another\n"
    "  regatta-client -c 5                          or\n"
    "  echo top 5 | nc -N 127.0.0.1 7342            or\n"
    "  echo top 5 by=recent window=30s command=1 | nc -N 127.0.0.1 7342   or\n"
    "  curl 'http://127.0.0.1:7342/top?n=5&format=json'\n"
    "\n"
    "SIGTERM and Ctrl-C stop it: what was asked is answered first. Exit status: 0 stopped\n"
    "when told to, 1 failed, 2 wrong usage.\n";

enum {
    OPTION_MAX_AGE = 256,
    OPTION_SOURCE,
    OPTION_NO_RECORDER,
    OPTION_BACKLOG,
    OPTION_DEFER_ACCEPT,
    OPTION_MAX_CONNECTIONS,
    OPTION_ALLOW,
    OPTION_TOKEN_FILE,
    OPTION_NO_TOKEN,
    OPTION_IDLE_TIMEOUT,
    OPTION_WORKERS,
    OPTION_CPUS,
    OPTION_READY_FD,
    OPTION_SUMMARY,
    OPTION_USER,
    OPTION_SANDBOX,
    OPTION_LIST_DESIGNS,
    OPTION_LIST_SANDBOX,
    OPTION_JSON,
    OPTION_VERSION,
};

static const struct option long_options[] = {
    {"design", required_argument, NULL, 'd'},
    {"listen", required_argument, NULL, 'l'},
    {"work", required_argument, NULL, 'w'},
    {"max-age", required_argument, NULL, OPTION_MAX_AGE},
    {"source", required_argument, NULL, OPTION_SOURCE},
    {"no-recorder", no_argument, NULL, OPTION_NO_RECORDER},
    {"backlog", required_argument, NULL, OPTION_BACKLOG},
    {"defer-accept", no_argument, NULL, OPTION_DEFER_ACCEPT},
    {"max-connections", required_argument, NULL, OPTION_MAX_CONNECTIONS},
    {"allow", required_argument, NULL, OPTION_ALLOW},
    {"token-file", required_argument, NULL, OPTION_TOKEN_FILE},
    {"no-token", no_argument, NULL, OPTION_NO_TOKEN},
    {"idle-timeout", required_argument, NULL, OPTION_IDLE_TIMEOUT},
    {"workers", required_argument, NULL, OPTION_WORKERS},
    {"cpus", required_argument, NULL, OPTION_CPUS},
    {"ready-fd", required_argument, NULL, OPTION_READY_FD},
    {"summary", required_argument, NULL, OPTION_SUMMARY},
    {"verbose", no_argument, NULL, 'v'},
    {"quiet", no_argument, NULL, 'q'},
    {"user", required_argument, NULL, OPTION_USER},
    {"sandbox", required_argument, NULL, OPTION_SANDBOX},
    {"list-sandbox", no_argument, NULL, OPTION_LIST_SANDBOX},
    {"list-designs", no_argument, NULL, OPTION_LIST_DESIGNS},
    {"json", no_argument, NULL, OPTION_JSON},
    {"version", no_argument, NULL, OPTION_VERSION},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* What ends the program instead of serving. */
struct request_for {
    bool designs, sandbox, json;
};

static int wrong(const char *option, const char *value, const char *advice) {
    fprintf(stderr, "regatta-server: %s '%s': %s\n", option, value, advice);
    return USAGE_ERROR;
}

/* Returns -1, or the exit status after a line on stderr. */
static int take_number(const char *option, const char *value, uint64_t low, uint64_t high,
                       uint64_t *number) {
    char advice[80];
    if (number_parse(value, low, high, number) == 0)
        return -1;
    snprintf(advice, sizeof advice, "expected a number from %" PRIu64 " to %" PRIu64, low, high);
    return wrong(option, value, advice);
}

static int take_design(struct options *options, const char *name) {
    options->design = design_find(name);
    if (options->design != NULL)
        return -1;
    return wrong("--design", name, "no such design; see: regatta-server --list-designs");
}

static int take_work(struct options *options, const char *text) {
    const char *problem;
    if (work_parse(text, &options->work, &problem) == 0)
        return -1;
    return wrong("--work", text, problem);
}

static int take_source(struct options *options, const char *name) {
    if (strcmp(name, "auto") == 0)
        options->source = SOURCE_AUTO;
    else if (strcmp(name, "procfs") == 0)
        options->source = SOURCE_PROCFS;
    else if (strcmp(name, "bpf") == 0)
        options->source = SOURCE_BPF;
    else
        return wrong("--source", name, "no such source; there are: auto, procfs, bpf");
    return -1;
}

static int take_sandbox(struct options *options, const char *text) {
    options->has_sandbox = strcmp(text, "on") == 0;
    if (options->has_sandbox || strcmp(text, "off") == 0)
        return -1;
    return wrong("--sandbox", text, "expected on or off");
}

static int take_listen(struct options *options, const char *text) {
    const char *problem;
    if (address_parse(text, DEFAULT_PORT, &options->listen, &problem) == 0)
        return -1;
    return wrong("--listen", text, problem);
}

static int take_allow(struct options *options, const char *list) {
    const char *problem;
    if (access_allow(&options->access, list, &problem) == 0)
        return -1;
    return wrong("--allow", list, problem);
}

static int take_token_file(struct options *options, const char *path) {
    char problem[TOKEN_PROBLEM_LIMIT];
    if (token_read(path, &options->access.token, problem) == 0)
        return -1;
    return wrong("--token-file", path, problem);
}

/* Which of the options do not go together. */
static int check_access(const struct options *options) {
    char listen[ADDRESS_TEXT_LIMIT];
    const struct access *access = &options->access;
    if (access->token.length > 0 && access->wants_no_token)
        return wrong("--no-token", "", "goes without --token-file");
    const char *missing = access_missing(access, &options->listen.storage);
    address_format(&options->listen, listen);
    return missing != NULL ? wrong("--listen", listen, missing) : -1;
}

static int take_ready_fd(struct options *options, const char *text) {
    uint64_t fd = 0;
    int status = take_number("--ready-fd", text, 0, INT_MAX, &fd);
    if (status < 0 && fcntl((int)fd, F_GETFD) < 0)
        return wrong("--ready-fd", text, "no such descriptor is open");
    options->ready_fd = (int)fd;
    return status;
}

static int take(struct options *options, int option, const char *value,
                struct request_for *request) {
    uint64_t number = 0;
    int status = -1;
    switch (option) {
    case 'd':
        return take_design(options, value);
    case 'l':
        return take_listen(options, value);
    case 'w':
        return take_work(options, value);
    case OPTION_MAX_AGE:
        status = take_number("--max-age", value, 0, MAX_MS, &number);
        options->max_age_ms = (int64_t)number;
        return status;
    case OPTION_SOURCE:
        return take_source(options, value);
    case OPTION_NO_RECORDER:
        options->records = false;
        return -1;
    case OPTION_BACKLOG:
        status = take_number("--backlog", value, 1, PORT_LIMIT, &number);
        options->backlog = (int)number;
        return status;
    case OPTION_DEFER_ACCEPT:
        options->defers_accept = true;
        return -1;
    case OPTION_MAX_CONNECTIONS:
        status = take_number("--max-connections", value, 1, CONNECTION_LIMIT, &number);
        options->max_connections = (unsigned)number;
        options->wants_connections = true;
        return status;
    case OPTION_ALLOW:
        return take_allow(options, value);
    case OPTION_TOKEN_FILE:
        return take_token_file(options, value);
    case OPTION_NO_TOKEN:
        options->access.wants_no_token = true;
        return -1;
    case OPTION_IDLE_TIMEOUT:
        status = take_number("--idle-timeout", value, 1, MAX_MS, &number);
        options->idle_timeout_ms = (int64_t)number;
        return status;
    case OPTION_WORKERS:
        status = take_number("--workers", value, 1, WORKER_LIMIT, &number);
        options->workers = (unsigned)number;
        return status;
    case OPTION_CPUS:
        options->cpus = value;
        return -1;
    case OPTION_READY_FD:
        return take_ready_fd(options, value);
    case OPTION_SUMMARY:
        options->summary = value;
        return -1;
    case OPTION_USER:
        options->user = value;
        return -1;
    case OPTION_SANDBOX:
        return take_sandbox(options, value);
    case OPTION_LIST_SANDBOX:
        request->sandbox = true;
        return -1;
    case 'v':
    case 'q':
        options->verbose = option == 'v';
        return -1;
    case OPTION_LIST_DESIGNS:
        request->designs = true;
        return -1;
    case OPTION_JSON:
        request->json = true;
        return -1;
    case OPTION_VERSION:
        puts("regatta-server " REGATTA_VERSION);
        return EXIT_SUCCESS;
    case 'h':
        fputs(help, stdout);
        return EXIT_SUCCESS;
    default:
        return USAGE_ERROR;
    }
}

static int list_designs(bool as_json) {
    if (as_json)
        putchar('[');
    for (const struct design *const *design = designs; *design != NULL; design++) {
        const char *missing = design_missing(*design);
        if (as_json)
            printf("%s{\"name\": \"%s\", \"summary\": \"%s\", \"pool\": %s, "
                   "\"serves\": \"%s\", \"missing\": %s%s%s}",
                   design == designs ? "" : ",\n ", (*design)->name, (*design)->summary,
                   (*design)->workers != NO_POOL ? "true" : "false", design_serves(*design),
                   missing != NULL ? "\"" : "", missing != NULL ? missing : "null",
                   missing != NULL ? "\"" : "");
        else
            printf("%-18s  %s%s%s%s\n", (*design)->name, (*design)->summary,
                   missing != NULL ? " (not here: " : "", missing != NULL ? missing : "",
                   missing != NULL ? ")" : "");
    }
    if (as_json)
        puts("]");
    return EXIT_SUCCESS;
}

/* By entering it: what is printed then holds, for as long as this process lives. */
static int list_sandbox(const struct options *options, bool as_json) {
    char space[2048];
    struct text out = text_fixed(space, sizeof space);
    struct sandbox sandbox;
    const struct sandbox_options wanted = options_sandbox(options);
    int error = sandbox_enter(&sandbox, &wanted);
    if (error != 0)
        return wrong("--user", options->user, sandbox.user.what);
    sandbox_list(&sandbox, as_json, &out);
    fwrite(out.bytes, 1, out.length, stdout);
    return EXIT_SUCCESS;
}

static int list(const struct options *options, const struct request_for *request) {
    if (request->designs)
        return list_designs(request->json);
    if (request->sandbox)
        return list_sandbox(options, request->json);
    return -1;
}

struct sandbox_options options_sandbox(const struct options *options) {
    return (struct sandbox_options){.is_on = options->has_sandbox,
                                    .user = options->user,
                                    .uses_rings = options->design->uses_rings,
                                    .uses_bpf = options->source != SOURCE_PROCFS};
}

int options_parse(struct options *options, int argc, char **argv) {
    struct request_for request = {false, false, false};
    const char *problem;
    int option, status = -1;
    *options = (struct options){
        .design = &design_select,
        .work = {.kind = WORK_SCAN, .text = "scan"},
        .source = SOURCE_AUTO,
        .max_age_ms = 1000,
        .records = true,
        .idle_timeout_ms = 30000,
        .max_connections = 65536,
        .backlog = 4096,
        .ready_fd = -1,
        .has_sandbox = sandbox_by_default,
        .verbose = isatty(STDOUT_FILENO) == 1,
    };
    address_parse("127.0.0.1", DEFAULT_PORT, &options->listen, &problem);
    opterr = 0;
    while (status < 0 && (option = getopt_long(argc, argv, ":d:l:w:vqh", long_options, NULL)) != -1)
        if (option == '?' || option == ':')
            status = wrong("option", argv[optind - 1],
                           option == '?' ? "unknown, or takes no value; see: regatta-server --help"
                                         : "needs a value; see: regatta-server --help");
        else
            status = take(options, option, optarg, &request);
    if (status < 0 && optind < argc)
        status = wrong("argument", argv[optind], "none is expected; see: regatta-server --help");
    if (status < 0 && options->workers != 0 && options->design->workers == NO_POOL)
        status = wrong("--workers with --design", options->design->name,
                       "this design has no pool of workers");
    if (status < 0 && request.json && !request.designs && !request.sandbox)
        status = wrong("--json", "", "goes with --list-designs or --list-sandbox");
    if (status < 0 && !request.designs && !request.sandbox)
        status = check_access(options);
    return status < 0 ? list(options, &request) : status;
}

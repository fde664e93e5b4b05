#include "programs/server_options.h"

#include "base/limits.h"
#include "designs/find_design.h"
#include "programs/option.h"
#include "programs/server_help.h"
#include "programs/server_lists.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_MS = 24 * 3600 * 1000 };

/* A sanitizer traces the process at its end to find leaks, which the sandbox forbids. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool sandbox_by_default = false;
#else
static const bool sandbox_by_default = true;
#endif

static const char PROGRAM[] = "regatta-server";

enum {
    MAX_AGE = 256,
    SOURCE,
    NO_RECORDER,
    BACKLOG,
    DEFER_ACCEPT,
    MAX_CONNECTIONS,
    ALLOW,
    TOKEN_FILE,
    NO_TOKEN,
    IDLE_TIMEOUT,
    WORKERS,
    CPUS,
    READY_FD,
    SUMMARY,
    USER,
    SANDBOX,
    LIST_DESIGNS,
    LIST_SANDBOX,
    JSON,
    VERSION,
};

static const struct option KNOWN[] = {
    {"design", required_argument, NULL, 'd'},
    {"listen", required_argument, NULL, 'l'},
    {"work", required_argument, NULL, 'w'},
    {"max-age", required_argument, NULL, MAX_AGE},
    {"source", required_argument, NULL, SOURCE},
    {"no-recorder", no_argument, NULL, NO_RECORDER},
    {"backlog", required_argument, NULL, BACKLOG},
    {"defer-accept", no_argument, NULL, DEFER_ACCEPT},
    {"max-connections", required_argument, NULL, MAX_CONNECTIONS},
    {"allow", required_argument, NULL, ALLOW},
    {"token-file", required_argument, NULL, TOKEN_FILE},
    {"no-token", no_argument, NULL, NO_TOKEN},
    {"idle-timeout", required_argument, NULL, IDLE_TIMEOUT},
    {"workers", required_argument, NULL, WORKERS},
    {"cpus", required_argument, NULL, CPUS},
    {"ready-fd", required_argument, NULL, READY_FD},
    {"summary", required_argument, NULL, SUMMARY},
    {"verbose", no_argument, NULL, 'v'},
    {"quiet", no_argument, NULL, 'q'},
    {"user", required_argument, NULL, USER},
    {"sandbox", required_argument, NULL, SANDBOX},
    {"list-sandbox", no_argument, NULL, LIST_SANDBOX},
    {"list-designs", no_argument, NULL, LIST_DESIGNS},
    {"json", no_argument, NULL, JSON},
    {"version", no_argument, NULL, VERSION},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* What is printed instead of serving. */
struct lists {
    bool designs, sandbox, json;
};

static _Noreturn void wrong(const char *option, const char *value, const char *advice) {
    option_wrong(PROGRAM, "%s '%s': %s", option, value, advice);
}

static const struct design *read_design(const char *name) {
    const struct design *design = design_find(name);
    if (design == NULL)
        wrong("--design", name, "no such design; see: regatta-server --list-designs");
    return design;
}

static void read_work(const char *text, struct work *work) {
    const char *problem;
    if (work_parse(text, work, &problem) != 0)
        wrong("--work", text, problem);
}

static enum source_kind read_source(const char *name) {
    enum source_kind kind;
    if (source_kind_parse(name, &kind) != 0)
        wrong("--source", name, "no such source; there are: auto, procfs, bpf");
    return kind;
}

static bool read_sandbox(const char *text) {
    if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
        wrong("--sandbox", text, "expected on or off");
    return strcmp(text, "on") == 0;
}

static void read_listen(const char *text, struct address *listen) {
    const char *problem;
    if (address_parse(text, DEFAULT_PORT, listen, &problem) != 0)
        wrong("--listen", text, problem);
}

static void read_allow(const char *list, struct access *access) {
    const char *problem;
    if (access_allow(access, list, &problem) != 0)
        wrong("--allow", list, problem);
}

static int read_ready_fd(const char *text) {
    int fd = (int)option_number(PROGRAM, "--ready-fd", text, 0, INT_MAX);
    if (fcntl(fd, F_GETFD) < 0)
        wrong("--ready-fd", text, "no such descriptor is open");
    return fd;
}

static void take(int option, const char *value, struct server_command *command,
                 struct lists *lists) {
    struct options *options = &command->options;
    switch (option) {
    case 'd':
        options->design = read_design(value);
        break;
    case 'l':
        read_listen(value, &options->listen);
        break;
    case 'w':
        read_work(value, &options->work);
        break;
    case MAX_AGE:
        command->max_age_ms = option_number(PROGRAM, "--max-age", value, 0, MAX_MS);
        break;
    case SOURCE:
        command->source = read_source(value);
        break;
    case NO_RECORDER:
        command->records = false;
        break;
    case BACKLOG:
        options->backlog = (int)option_number(PROGRAM, "--backlog", value, 1, PORT_LIMIT);
        break;
    case DEFER_ACCEPT:
        options->defers_accept = true;
        break;
    case MAX_CONNECTIONS:
        options->max_connections =
            option_number(PROGRAM, "--max-connections", value, 1, CONNECTION_LIMIT);
        command->wants_connections = true;
        break;
    case ALLOW:
        read_allow(value, &options->access);
        break;
    case TOKEN_FILE:
        option_token(PROGRAM, value, &options->access.token);
        break;
    case NO_TOKEN:
        options->access.wants_no_token = true;
        break;
    case IDLE_TIMEOUT:
        options->idle_timeout_ms = option_number(PROGRAM, "--idle-timeout", value, 1, MAX_MS);
        break;
    case WORKERS:
        options->workers = option_number(PROGRAM, "--workers", value, 1, WORKER_LIMIT);
        break;
    case CPUS:
        command->cpus = value;
        break;
    case READY_FD:
        command->ready_fd = read_ready_fd(value);
        break;
    case SUMMARY:
        command->summary = value;
        break;
    case USER:
        command->user = value;
        break;
    case SANDBOX:
        command->has_sandbox = read_sandbox(value);
        break;
    case 'v':
    case 'q':
        command->verbose = option == 'v';
        break;
    case LIST_DESIGNS:
        lists->designs = true;
        break;
    case LIST_SANDBOX:
        lists->sandbox = true;
        break;
    case JSON:
        lists->json = true;
        break;
    case VERSION:
        puts("regatta-server " REGATTA_VERSION);
        exit(EXIT_SUCCESS);
    default: /* 'h' */
        exit(server_help_print() == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
    }
}

/* Options that do not go together. */
static void check(const struct options *options, const struct lists *lists) {
    const struct access *access = &options->access;
    char listen[ADDRESS_TEXT_LIMIT];
    if (options->workers != 0 && options->design->workers == NO_POOL)
        wrong("--workers with --design", options->design->name,
              "this design has no pool of workers");
    if (lists->json && !lists->designs && !lists->sandbox)
        option_wrong(PROGRAM, "--json goes with --list-designs or --list-sandbox");
    if (lists->designs || lists->sandbox)
        return;
    if (access->token.length > 0 && access->wants_no_token)
        option_wrong(PROGRAM, "--no-token and --token-file exclude each other");
    const char *missing = access_missing(access, &options->listen.storage);
    address_format(&options->listen, listen);
    if (missing != NULL)
        wrong("--listen", listen, missing);
}

void server_options_read(int count, char *arguments[], struct server_command *command) {
    struct lists lists = {false, false, false};
    *command = (struct server_command){
        .options = {.design = design_find("select"),
                    .work = {.kind = WORK_SCAN, .text = "scan"},
                    .idle_timeout_ms = 30000,
                    .max_connections = 65536,
                    .backlog = 4096},
        .source = SOURCE_AUTO,
        .max_age_ms = 1000,
        .records = true,
        .has_sandbox = sandbox_by_default,
        .verbose = isatty(STDOUT_FILENO) == 1,
        .ready_fd = -1,
    };
    read_listen("127.0.0.1", &command->options.listen);
    opterr = 0;
    for (int option; (option = getopt_long(count, arguments, ":d:l:w:vqh", KNOWN, NULL)) != -1;) {
        if (option == '?' || option == ':')
            option_unknown(PROGRAM, option, arguments, "--help");
        take(option, optarg, command, &lists);
    }
    if (optind < count)
        option_wrong(PROGRAM, "no argument is expected, and there is '%s'; see --help",
                     arguments[optind]);
    check(&command->options, &lists);
    if (!lists.designs && !lists.sandbox)
        return;
    if (lists.designs)
        server_list_designs(lists.json);
    else
        server_list_sandbox(command, lists.json);
    exit(EXIT_SUCCESS);
}

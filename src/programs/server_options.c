#include "programs/server_options.h"

#include "base/limits.h"
#include "programs/help.h"
#include "programs/option.h"
#include "programs/server_lists.h"
#include "server/designs/design_table.h"

#include <fcntl.h>
#include <limits.h>
#include <nss.h>
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

/* What is printed instead of serving. */
struct lists {
    bool designs, sandbox, json;
};

static _Noreturn void wrong(const char *option, const char *value, const char *advice) {
    option_wrong(PROGRAM, "%s '%s': %s", option, value, advice);
}

static void read_design(const char *name, void *into) {
    struct server_command *command = into;
    command->options.design = design_find(name);
    if (command->options.design == NULL)
        wrong("--design", name, "no such design; see: regatta-server --list-designs");
}

static void read_work(const char *text, void *into) {
    struct server_command *command = into;
    const char *problem;
    if (work_parse(text, &command->options.work, &problem) != 0)
        wrong("--work", text, problem);
}

static void read_source(const char *name, void *into) {
    struct server_command *command = into;
    if (source_kind_parse(name, &command->source) != 0)
        wrong("--source", name, "no such source; there are: auto, procfs, bpf");
}

static void read_sandbox(const char *text, void *into) {
    struct server_command *command = into;
    command->requires_sandbox = strcmp(text, "require") == 0;
    command->has_sandbox = command->requires_sandbox || strcmp(text, "on") == 0;
    if (!command->has_sandbox && strcmp(text, "off") != 0)
        wrong("--sandbox", text, "expected on, off or require");
}

static void read_listen(const char *text, void *into) {
    struct server_command *command = into;
    const char *problem;
    /* Others are libraries, which a static program should not load. */
    __nss_configure_lookup("hosts", "files dns");
    if (address_parse(text, DEFAULT_PORT, &command->options.listen, &problem) != 0)
        wrong("--listen", text, problem);
}

static void read_allow(const char *list, void *into) {
    struct server_command *command = into;
    const char *problem;
    if (access_allow(&command->options.access, list, &problem) != 0)
        wrong("--allow", list, problem);
}

static void read_host(const char *list, void *into) {
    struct server_command *command = into;
    const char *problem;
    if (allowed_hosts_add(&command->options.access.admission.hosts, list, &problem) != 0)
        wrong("--host", list, problem);
}

/* Called once --sandbox is known: memory is hidden before the token is in it. */
static void read_token(const char *path, struct server_command *command) {
    if (command->has_sandbox)
        sandbox_hide_memory();
    option_token(PROGRAM, path, &command->options.access.admission.token);
}

static void read_ready_fd(const char *text, void *into) {
    struct server_command *command = into;
    command->ready_fd = (int)option_number(PROGRAM, "--ready-fd", text, 0, INT_MAX);
    if (fcntl(command->ready_fd, F_GETFD) < 0)
        wrong("--ready-fd", text, "no such descriptor is open");
}

/* Options that exclude or need each other. */
static void check(const struct options *options, const struct lists *lists,
                  const struct option_row *rows) {
    const struct access *access = &options->access;
    char listen[ADDRESS_TEXT_LIMIT];
    if (options->workers != 0 && options->design->workers == NO_POOL)
        wrong("--workers with --design", options->design->name,
              "this design has no pool of workers");
    if (lists->json && !lists->designs && !lists->sandbox)
        option_wrong(PROGRAM, "--json needs --list-designs or --list-sandbox");
    if (lists->designs || lists->sandbox)
        return;
    if (access->admission.token.length > 0 && access->wants_no_token)
        option_wrong(PROGRAM, "--no-token and --token-file exclude each other");
    if (access->admission.token.length > 0 && option_is_given(rows, "host"))
        option_wrong(PROGRAM,
                     "--host applies only without a token; with --token-file clients may use any "
                     "host name");
    const char *missing = access_missing(access, &options->listen.storage);
    address_format(&options->listen, listen);
    if (missing != NULL)
        wrong("--listen", listen, missing);
}

void server_options_read(int count, char *arguments[], struct server_command *command) {
    static const struct option_program program = {PROGRAM, "--help", server_help};
    struct lists lists = {false, false, false};
    const char *token_file = NULL;
    *command = (struct server_command){
        .options = {.design = design_find("select"),
                    .work = {.kind = WORK_SCAN, .text = "scan"},
                    .idle_timeout_ms = 30000,
                    .max_connections = 65536,
                    .max_output_mib = 256,
                    .backlog = 4096},
        .source = SOURCE_AUTO,
        .max_age_ms = 1000,
        .records = true,
        .has_sandbox = sandbox_by_default,
        .verbose = isatty(STDOUT_FILENO) == 1,
        .ready_fd = -1,
    };
    struct options *options = &command->options;
    struct option_row rows[] = {
        {"design", 'd', .read = read_design},
        {"listen", 'l', .read = read_listen},
        {"work", 'w', .read = read_work},
        {"max-age", .amount = &command->max_age_ms, .unit = 1, .high = MAX_MS},
        {"source", .read = read_source},
        {"no-recorder", .unset = &command->records},
        {"backlog", .number = &options->backlog, .low = 1, .high = PORT_LIMIT},
        {"defer-accept", .set = &options->defers_accept},
        {"max-connections", .number = &options->max_connections, .low = 1,
         .high = CONNECTION_LIMIT},
        {"max-output", .number = &options->max_output_mib, .low = 1, .high = OUTPUT_MIB_LIMIT},
        {"allow", .read = read_allow},
        {"host", .read = read_host},
        {"token-file", .text = &token_file},
        {"no-token", .set = &options->access.wants_no_token},
        {"idle-timeout", .amount = &options->idle_timeout_ms, .unit = 1, .low = 1, .high = MAX_MS},
        {"workers", .number = &options->workers, .low = 1, .high = WORKER_LIMIT},
        {"cpus", .text = &command->cpus},
        {"ready-fd", .read = read_ready_fd},
        {"summary", .text = &command->summary},
        {"verbose", 'v', .set = &command->verbose},
        {"quiet", 'q', .unset = &command->verbose},
        {"user", .text = &command->user},
        {"sandbox", .read = read_sandbox},
        {"list-sandbox", .set = &lists.sandbox},
        {"list-designs", .set = &lists.designs},
        {"json", .set = &lists.json},
        {NULL},
    };
    access_open(&options->access);
    read_listen("127.0.0.1", command);
    int first = options_read(&program, count, arguments, rows, command);
    if (first < count)
        option_wrong(PROGRAM, "unexpected argument '%s'; see --help", arguments[first]);
    if (token_file != NULL)
        read_token(token_file, command);
    command->wants_connections = option_is_given(rows, "max-connections");
    check(options, &lists, rows);
    if (lists.designs) {
        server_list_designs(lists.json);
        exit(EXIT_SUCCESS);
    }
    if (lists.sandbox)
        exit(server_list_sandbox(command, lists.json));
}

/* regatta-server: from the command line to the summary. Prints all errors. */
#include "base/limits.h"
#include "programs/option.h"
#include "programs/server_options.h"
#include "programs/server_rights.h"
#include "server/connection/log.h"
#include "server/designs/design_table.h"
#include "server/metrics/summary.h"
#include "server/recorder.h"
#include "server/server.h"
#include "server/service_manager.h"
#include "server/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int fail(const char *what, int error, const char *advice) {
    fprintf(stderr, "regatta-server: %s: %s%s%s\n", what, strerror(-error),
            advice != NULL ? "; " : "", advice != NULL ? advice : "");
    return EXIT_FAILURE;
}

/* Only a privileged process can; others keep their limit. */
static void raise_hard_limit(struct rlimit *limit, rlim_t wanted) {
    const struct rlimit raised = {wanted, wanted};
    if (limit->rlim_max < wanted && setrlimit(RLIMIT_NOFILE, &raised) == 0)
        *limit = raised;
}

/* Each connection takes a descriptor: raises the soft limit to the hard one. The last few
 * descriptors are reserved, so that a scan is always possible. */
static void budget_descriptors(struct server_command *command) {
    struct options *options = &command->options;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    if (command->wants_connections)
        raise_hard_limit(&limit, options->max_connections + SPARE_DESCRIPTORS);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    rlim_t spare = limit.rlim_cur > 2 * SPARE_DESCRIPTORS ? SPARE_DESCRIPTORS : limit.rlim_cur / 2;
    unsigned allowed = (unsigned)(limit.rlim_cur - spare);
    if (options->max_connections <= limit.rlim_cur - spare)
        return;
    if (command->wants_connections)
        fprintf(stderr,
                "regatta-server: the limit of open files allows %u connections, not %u; raise it "
                "(see: ulimit -Hn)\n",
                allowed, options->max_connections);
    options->max_connections = allowed;
}

/* After pinning: a pool with a worker per CPU counts the CPUs that it may use. */
static void count_workers(struct options *options) {
    cpu_set_t set;
    if (options->workers != 0)
        return;
    if (options->design->workers == ONE_PER_CPU && sched_getaffinity(0, sizeof set, &set) == 0)
        options->workers = (unsigned)CPU_COUNT(&set);
    else
        options->workers = options->design->workers > 0 ? (unsigned)options->design->workers : 1;
}

/* More workers than clients would be useless. */
static void limit_workers(struct options *options) {
    if (options->design->one_at_a_time && options->workers > options->max_connections)
        options->workers = options->max_connections;
}

/* If a standard descriptor were closed, a connection could get its number and receive what the
 * server prints. */
static void fill_standard_descriptors(void) {
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

static int listen_failure(const struct options *options, int error) {
    char what[ADDRESS_TEXT_LIMIT + 32], listen[ADDRESS_TEXT_LIMIT];
    address_format(&options->listen, listen);
    snprintf(what, sizeof what, "cannot listen on %s", listen);
    return fail(what, error,
                error == -EADDRINUSE      ? "choose another port with --listen, or port 0 for any"
                : error == -EADDRNOTAVAIL ? "this host has no such address; see: ip address"
                : error == -EACCES ? "ports below 1024 are reserved for root; choose a higher one"
                                   : NULL);
}

/* Runs the design and the recorder. Returns 0 or -errno. */
static int run(struct server *server, bool records) {
    struct recorder recorder;
    int error = 0;
    if (records)
        error = recorder_start(&recorder, server->service);
    if (error != 0)
        return error;
    error = server->options->design->run(server);
    if (records)
        recorder_stop(&recorder);
    return error;
}

/* With the listener open: serves, and prints the summary. Returns the exit status. */
static int serve(struct server *server, bool records) {
    const struct options *options = server->options;
    int error = stop_install(server->listener.fd);
    if (error == 0 && options->design->workers == NO_POOL)
        error = ready_say(server);
    if (error != 0)
        return fail("cannot start", error, NULL);
    error = run(server, records);
    if (error != 0)
        return server_design_failure(options, error);
    summary_print(server);
    return EXIT_SUCCESS;
}

static int inherited_failure(const char *problem) {
    fprintf(stderr, "regatta-server: the socket passed in LISTEN_FDS: %s\n", problem);
    return EXIT_FAILURE;
}

/* Takes or opens the listener, and one per worker if the design wants that. Returns 0 or the exit
 * status. */
static int open_listeners(struct server *server, struct options *options) {
    int inherited = activation_socket();
    if (inherited == -E2BIG)
        return inherited_failure("several were passed, one is expected");
    int error = inherited >= 0 ? listener_adopt(&server->listener, options, inherited)
                               : listener_open(&server->listener, options);
    if (error == -ENOTSOCK)
        return inherited_failure("a listening TCP socket is expected");
    if (error == 0 && access_missing(&options->access, &options->listen.storage) != NULL)
        return inherited_failure(access_missing(&options->access, &options->listen.storage));
    if (error == 0 && options->design->shares_port)
        error = listeners_open_others(&server->other_listeners, &server->listener, options);
    return error != 0 ? listen_failure(options, error) : 0;
}

/* Called once everything that needs rights is open. */
static int serve_without_rights(struct server *server, const struct server_command *command) {
    const char *path = command->summary;
    int summary = path != NULL ? summary_open(path) : -1;
    if (path != NULL && summary < 0)
        return fail(path, summary, NULL);
    int status = server_give_up_rights(server, command);
    if (status == 0)
        status = serve(server, command->records);
    if (path == NULL || status != 0)
        return status;
    int error = summary_write(server, summary);
    return error != 0 ? fail(path, error, NULL) : EXIT_SUCCESS;
}

static int service_failure(enum source_kind source, int error) {
    if (source != SOURCE_BPF)
        return fail("cannot read the processes", error, source_problem());
    fprintf(stderr, "regatta-server: --source bpf: %s\n", source_problem());
    return EXIT_FAILURE;
}

static int open_and_serve(struct server_command *command) {
    struct options *options = &command->options;
    struct output_budget budget = {.limit = (uint64_t)options->max_output_mib << 20};
    struct server server = {
        .options = options,
        .budget = &budget,
        .log = command->verbose ? log_open() : NULL,
        .ready = {.fd = command->ready_fd, .manager_fd = -1, .sandbox_note = text_growing(2048)}};
    const struct service_options service = {
        .work = options->work,
        .source = command->source,
        .max_age_ms = command->max_age_ms,
        .records = command->records,
        .source_flags = options->design->scans_uncached ? SOURCE_UNCACHED : 0,
        .is_over = stop_is_over,
    };
    /* Before the service's snapshot, which then lies beside it: see shared_memory.h. */
    server.stats = stats_create(options->workers);
    if (server.stats == NULL || (command->verbose && server.log == NULL))
        return fail("cannot start", -ENOMEM, NULL);
    int error = service_open(&server.service, &service);
    if (error != 0)
        return service_failure(command->source, error);
    if (options->access.admission.token.length > 0) {
        server.guesses = guesses_open();
        if (server.guesses == NULL)
            return fail("cannot start", -ENOMEM, NULL);
    }
    server.counts = &server.stats->workers[0];
    int status = open_listeners(&server, options);
    if (status == 0) {
        status = serve_without_rights(&server, command);
        listener_close(&server.listener);
        free(server.other_listeners);
        free(server.prepared);
    }
    stats_destroy(server.stats);
    service_close(server.service);
    guesses_close(server.guesses);
    log_close(server.log);
    return status;
}

int main(int count, char *arguments[]) {
    struct server_command command;
    fill_standard_descriptors();
    signal(SIGPIPE, SIG_IGN); /* a closed stdout or stderr must not end the server */
    server_options_read(count, arguments, &command);
    const struct design *design = command.options.design;
    option_cpus("regatta-server", command.cpus);
    const char *missing = design_missing(design);
    if (missing != NULL) {
        fprintf(stderr, "regatta-server: --design %s: %s\n", design->name, missing);
        return EXIT_FAILURE;
    }
    count_workers(&command.options);
    budget_descriptors(&command);
    limit_workers(&command.options);
    return open_and_serve(&command);
}

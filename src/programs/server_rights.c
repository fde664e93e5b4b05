#include "programs/server_rights.h"

#include "server/designs/design_table.h"
#include "server/server.h"
#include "server/service_manager.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Warns if processes are hidden: if process 1 can be read, all can. */
static void warn_of_hidden(const struct server *server) {
    int fd = open("/proc/1/stat", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    else if (strcmp(service_source(server->service), "procfs") == 0)
        fputs("regatta-server: processes of other users are hidden (/proc is mounted with "
              "hidepid): mount it with gid= of a group of the server's user, or use --source bpf\n",
              stderr);
}

int server_enter_sandbox(const struct server_command *command, const struct sandbox_options *wanted,
                         struct sandbox *sandbox) {
    if (sandbox_enter(sandbox, wanted) == 0)
        return 0;
    if (command->user != NULL)
        fprintf(stderr, "regatta-server: --user %s: %s\n", command->user, sandbox->user.what);
    else
        fprintf(stderr, "regatta-server: sandbox without user: %s\n", sandbox->user.what);
    return EXIT_FAILURE;
}

int server_check_sandbox(const struct server_command *command, const struct sandbox *sandbox) {
    char space[5 * SANDBOX_WHAT_LIMIT];
    struct text missing = text_fixed(space, sizeof space);
    if (!command->requires_sandbox || !sandbox_missing(sandbox, &missing))
        return 0;
    fprintf(stderr, "regatta-server: --sandbox require: %.*s\n", (int)missing.length,
            missing.bytes);
    return EXIT_SANDBOX;
}

int server_design_failure(const struct options *options, int error) {
    bool is_full = options->design->workers != NO_POOL && (error == -EAGAIN || error == -ENOMEM);
    bool is_locked_out = options->design->rings != RINGS_NONE && error == -ENOMEM;
    fprintf(stderr, "regatta-server: %s: %s%s\n", options->design->name, strerror(-error),
            is_locked_out ? "; each worker's ring needs memory; use fewer --workers, or see: "
                            "ulimit -l"
            : is_full ? "; the system allows no more processes or threads; use fewer --workers, "
                        "or see: ulimit -u"
                      : "");
    return EXIT_FAILURE;
}

/* Opens the rest of what needs rights. Returns 0 or the exit status. */
static int open_last_descriptors(struct server *server, const struct server_command *command) {
    const struct design *design = command->options.design;
    int error = notify_open(&server->ready.manager_fd);
    if (error != 0) /* no reason to fail: a manager that cannot be reached does not wait */
        fprintf(stderr, "regatta-server: cannot reach the service manager (NOTIFY_SOCKET): %s\n",
                strerror(-error));
    if (!command->has_sandbox || design->prepare == NULL)
        return 0;
    error = design->prepare(server);
    return error != 0 ? server_design_failure(server->options, error) : 0;
}

/* A design that prepared nothing may be unavailable to the user that the server became. */
static int check_design(const struct server *server) {
    const struct design *design = server->options->design;
    const char *missing = server->prepared == NULL ? design_missing(design) : NULL;
    if (missing == NULL)
        return 0;
    fprintf(stderr, "regatta-server: --design %s: %s\n", design->name, missing);
    return EXIT_FAILURE;
}

int server_give_up_rights(struct server *server, const struct server_command *command) {
    struct sandbox_options wanted = server_options_sandbox(command);
    struct sandbox sandbox;
    wanted.uses_bpf = strcmp(service_source(server->service), "bpf") == 0;
    int status = open_last_descriptors(server, command);
    if (status == 0)
        status = server_enter_sandbox(command, &wanted, &sandbox);
    if (status == 0)
        status = server_check_sandbox(command, &sandbox);
    if (status != 0)
        return status;
    if (command->has_sandbox)
        sandbox_describe(&sandbox, "regatta-server: sandbox ", &server->ready.sandbox_note);
    warn_of_hidden(server);
    return check_design(server);
}

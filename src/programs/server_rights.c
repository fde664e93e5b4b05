#include "programs/server_rights.h"

#include "designs/find_design.h"
#include "server/server.h"
#include "server/service_manager.h"

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

static int sandbox_failure(const struct server_command *command, const struct sandbox *sandbox) {
    if (command->user != NULL)
        fprintf(stderr, "regatta-server: --user %s: %s\n", command->user, sandbox->user.what);
    else
        fprintf(stderr, "regatta-server: sandbox without user: %s\n", sandbox->user.what);
    return EXIT_FAILURE;
}

/* Returns 0 or the exit status. */
static int check_required(const struct sandbox *sandbox) {
    char space[5 * SANDBOX_WHAT_LIMIT];
    struct text missing = text_fixed(space, sizeof space);
    if (!sandbox_missing(sandbox, &missing))
        return 0;
    fprintf(stderr, "regatta-server: --sandbox require: %.*s\n", (int)missing.length,
            missing.bytes);
    return EXIT_FAILURE;
}

/* What takes rights, and nobody else has opened yet. Returns 0 or the exit status. */
static int open_the_last(struct server *server, const struct server_command *command) {
    const struct design *design = command->options.design;
    int error = notify_open(&server->ready.manager_fd);
    if (error != 0) /* a manager that does not listen does not wait either */
        fprintf(stderr, "regatta-server: cannot reach the service manager (NOTIFY_SOCKET): %s\n",
                strerror(-error));
    if (!command->has_sandbox || design->prepare == NULL)
        return 0;
    error = design->prepare(server);
    if (error == 0)
        return 0;
    fprintf(stderr, "regatta-server: %s: %s\n", design->name, strerror(-error));
    return EXIT_FAILURE;
}

/* What was prepared needs no right any more; else it is perhaps missing only for this user. */
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
    if (open_the_last(server, command) != 0)
        return EXIT_FAILURE;
    if (sandbox_enter(&sandbox, &wanted) != 0)
        return sandbox_failure(command, &sandbox);
    if (command->requires_sandbox && check_required(&sandbox) != 0)
        return EXIT_FAILURE;
    if (command->has_sandbox)
        sandbox_describe(&sandbox, "regatta-server: sandbox ", &server->ready.sandbox_note);
    warn_of_hidden(server);
    return check_design(server);
}

/* Opens what needs rights and gives up the rights (server/sandbox/sandbox.h), before serving. Each
 * function prints what is wrong, and returns 0 or the exit status. */
#pragma once
#include "programs/server_options.h"

struct server;

/* A layer of a required sandbox is unavailable, and starting the server again would not help:
 * EX_CONFIG of sysexits.h, which service managers know. */
enum { EXIT_SANDBOX = 78 };

/* Opens what still needs rights, then gives up those that serving does not need. */
int server_give_up_rights(struct server *server, const struct server_command *command);

/* Two of its steps: enters the sandbox, and checks that all layers hold if they must. */
int server_enter_sandbox(const struct server_command *command, const struct sandbox_options *wanted,
                         struct sandbox *sandbox);
int server_check_sandbox(const struct server_command *command, const struct sandbox *sandbox);

/* The design cannot run. Returns the exit status. */
int server_design_failure(const struct options *options, int error);

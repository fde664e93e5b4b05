/* What regatta-server gives up before it serves (sandbox/sandbox.h), and opens just before. Each
 * prints what is wrong, and returns 0 or the exit status. */
#pragma once
#include "programs/server_options.h"

struct server;

/* A layer of a required sandbox cannot be had: to start the server again is of no use. EX_CONFIG of
 * sysexits.h, which service managers know. */
enum { EXIT_SANDBOX = 78 };

/* Gives up the rights that serving does not need, once everything else that needs some is open. */
int server_give_up_rights(struct server *server, const struct server_command *command);

/* Its two steps: sandbox_enter, and whether all layers hold if they must. */
int server_enter_sandbox(const struct server_command *command, const struct sandbox_options *wanted,
                         struct sandbox *sandbox);
int server_check_sandbox(const struct server_command *command, const struct sandbox *sandbox);

/* The design cannot run. Returns the exit status. */
int server_design_failure(const struct options *options, int error);

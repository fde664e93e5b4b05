/* What regatta-server gives up before it serves (sandbox/sandbox.h), and opens just before. */
#pragma once
#include "programs/server_options.h"

struct server;

/* Gives up the rights that serving does not need, once everything else that needs some is open.
 * Prints what is wrong. Returns 0 or the exit status. */
int server_give_up_rights(struct server *server, const struct server_command *command);

/* What regatta-server --list-designs and --list-sandbox print, as text or JSON. */
#pragma once
#include "programs/server_options.h"

void server_list_designs(bool as_json);

/* Enters the sandbox: what is printed holds for this process. Returns the exit status. */
int server_list_sandbox(const struct server_command *command, bool as_json);

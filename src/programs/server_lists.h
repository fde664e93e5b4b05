/* What regatta-server --list-designs and --list-sandbox print, as text or JSON. */
#pragma once
#include "programs/server_options.h"

void server_list_designs(bool as_json);

/* By entering the sandbox: what is printed then holds, for as long as this process lives. */
void server_list_sandbox(const struct server_command *command, bool as_json);

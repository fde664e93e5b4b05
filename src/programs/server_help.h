/* What regatta-server --help prints. */
#pragma once

/* Returns 0 or -errno. */
int server_help_print(void);

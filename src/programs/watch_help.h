/* The text of --watch --help. */
#pragma once

/* Returns 0 or -errno. */
int watch_help_print(void);

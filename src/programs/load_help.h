/* What --help prints. */
#pragma once

/* Returns 0, or -errno if it cannot be printed. */
int load_help_print(void);

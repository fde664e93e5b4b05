/* What --help prints. */
#pragma once

/* Returns 0, or -errno if it cannot be printed. */
int help_print(void);

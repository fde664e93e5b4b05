/* The text of /proc/[pid]/stat (proc_pid_stat(5)): a pure parser. */
#pragma once
#include "top/snapshot.h"

#include <stddef.h>

struct stat_units {
    int64_t tick_ns;      /* nanoseconds of a clock tick */
    int64_t boot_unix_ns; /* Unix time of the boot */
};

/* Returns 0 and fills *process, or -EINVAL for text of any other form. The name is taken from the
 * first '(' to the *last* ')': it may itself hold parentheses, spaces and newlines. */
int stat_parse(const char *text, size_t length, const struct stat_units *units,
               struct process *process);

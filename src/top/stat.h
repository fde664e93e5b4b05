/* The text of /proc/[pid]/stat (proc_pid_stat(5)): a pure parser. */
#pragma once
#include "top/process.h"

#include <stddef.h>

/* tick_ns: nanoseconds of a clock tick. Returns 0 and fills *process, or -EINVAL for text of any
 * other form. The name is taken from the first '(' to the *last* ')': it may itself hold
 * parentheses, spaces and newlines. */
int stat_parse(const char *text, size_t length, int64_t tick_ns, struct process *process);

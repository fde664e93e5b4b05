/* /proc/[pid]/stat (proc_pid_stat(5)): a pure parser. */
#pragma once
#include "service/top/process.h"

#include <stddef.h>

/* tick_ns: nanoseconds of a clock tick. Returns 0 and fills *process, or -EINVAL for any other
 * text. The name is between the first '(' and the *last* ')': it may hold parentheses, spaces
 * and newlines. A kernel thread's is the short one, without a worker's current task. */
int stat_parse(const char *text, size_t length, int64_t tick_ns, struct process *process);

/* How many bytes of a name are used, by the process's flags: all, except for a kernel thread. */
size_t stat_name_length(const char *name, size_t length, uint64_t flags);

/* Whether a process may use CPU time without being put on a CPU again. */
enum stat_rest {
    STAT_SLEEPS,       /* its one thread sleeps: nothing changes until it runs */
    STAT_RUNS,         /* its one thread is running or waiting for a CPU */
    STAT_MANY_THREADS, /* ... or unknown */
};

/* For text that stat_parse has accepted. */
enum stat_rest stat_rest(const char *text, size_t length);

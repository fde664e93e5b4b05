/* The text of /proc/[pid]/stat (proc_pid_stat(5)): a pure parser. */
#pragma once
#include "top/process.h"

#include <stddef.h>

/* tick_ns: nanoseconds of a clock tick. Returns 0 and fills *process, or -EINVAL for text of any
 * other form. The name is taken from the first '(' to the *last* ')': it may itself hold
 * parentheses, spaces and newlines. Of a kernel thread it is the short one: without what a worker
 * does at the moment. */
int stat_parse(const char *text, size_t length, int64_t tick_ns, struct process *process);

/* How much of a name counts, of a process with these flags: all of it, but of a kernel thread. */
size_t stat_name_length(const char *name, size_t length, uint64_t flags);

/* Whether a process may have used CPU time by now without having been put on a CPU again. */
enum stat_rest {
    STAT_SLEEPS,       /* its one thread did not run: nothing of it changes until that does */
    STAT_RUNS,         /* its one thread was running, or waited for a CPU */
    STAT_MANY_THREADS, /* ... or this could not be told */
};

/* Of text that stat_parse has accepted. */
enum stat_rest stat_rest(const char *text, size_t length);

/* What the programs in the kernel write and the server reads: both compile this file. */
#pragma once

enum {
    RECORD_NAME_BYTES = 16,   /* the kernel's TASK_COMM_LEN; a zero byte ends it */
    ENDED_BYTES = 256 * 1024, /* of processes that ended and were not yet asked for: 3,276 */
};

/* One process; all times in nanoseconds. The kernel counts a task's run time exactly, and its user
 * and system time by what a clock tick finds it doing: user_ns and system_ns are only the
 * proportion in which run_ns is to be split. */
struct record {
    unsigned long long started_ns; /* since the boot */
    unsigned long long run_ns, user_ns, system_ns;
    unsigned long long told_user_ns, told_system_ns; /* as /proc last told them to somebody */
    int pid;                                         /* in the reader's pid namespace */
    unsigned threads; /* that were counted; 0: they changed all the time, and /proc must be asked */
    char name[RECORD_NAME_BYTES];
};

/* Out of way 1. */
struct reading {
    unsigned count; /* records written; one more than there is room for: too many processes */
    unsigned reserved;
};

/* Way 2: one thread. The times are its own; those of a process's first thread are with what the
 * threads that ended left to the process. */
struct thread_record {
    struct record record; /* .pid is the thread's; told_*, started_ns and name of the first only */
    int process;          /* pid of the process */
    unsigned threads;     /* that the process had at this moment */
    unsigned changes;     /* of its sums so far; odd: they changed while this was written */
    unsigned reserved;
};

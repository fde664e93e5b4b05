/* What the programs in the kernel write and the server reads; both include this file. */
#pragma once

enum {
    RECORD_NAME_BYTES = 16,   /* the kernel's TASK_COMM_LEN; a zero byte ends it */
    ENDED_BYTES = 256 * 1024, /* room for 3,276 ended processes between two readings */
};

/* One process, in nanoseconds. The kernel measures a task's run time exactly and samples user
 * and system time by clock ticks: user_ns and system_ns are only the proportion in which to
 * split run_ns. */
struct record {
    unsigned long long started_ns; /* since boot */
    unsigned long long run_ns, user_ns, system_ns;
    unsigned long long told_user_ns, told_system_ns; /* as /proc last showed them */
    int pid;                                         /* in the reader's pid namespace */
    unsigned threads; /* that were counted; 0: they kept changing, read /proc instead */
    char name[RECORD_NAME_BYTES];
};

/* Result of way 1. */
struct reading {
    unsigned count; /* records written; one more than there is room for: too many processes */
    unsigned reserved;
};

/* Way 2: one thread and its own times; the first thread's include those of the process's ended
 * threads. */
struct thread_record {
    struct record record; /* .pid is the thread's; told_*, started_ns and name: first thread only */
    int process;          /* pid of the process */
    unsigned threads;     /* of the process at this moment */
    unsigned changes;     /* of the process's sums so far; odd: they were changing */
    unsigned reserved;
};

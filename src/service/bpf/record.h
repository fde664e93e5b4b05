/* What the BPF programs write and the server reads; both include this file. */
#pragma once

enum {
    RECORD_NAME_BYTES = 16,          /* the kernel's TASK_COMM_LEN; a zero byte ends it */
    RECORD_START_NS = 10000000,      /* unit of start times, the finest that all sources have */
    RECORD_PID_MOST = (1 << 22) - 1, /* the kernel's PID_MAX_LIMIT - 1 */
    ENDED_BYTES = 256 * 1024,        /* room for 3,640 ended processes between two readings */
};

/* One process, in a cache line. The kernel measures a task's run time exactly and samples user and
 * system time by clock ticks: user_ns and system_ns are only the proportion in which to split
 * run_ns. */
struct record {
    unsigned long long started : 41; /* since boot */
    unsigned long long pid : 22;     /* in the reader's pid namespace */
    unsigned long long is_torn : 1;  /* its threads kept changing: read /proc instead */
    unsigned long long run_ns, user_ns, system_ns;
    unsigned long long reported_user_ns, reported_system_ns; /* as /proc last showed them */
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
    struct record
        record; /* .pid is the thread's; reported_*, started and name: first thread only */
    unsigned process : 22; /* its pid */
    unsigned threads;      /* of the process at this moment */
    unsigned changes;      /* of the process's sums so far; odd: they were changing */
    unsigned reserved;
};

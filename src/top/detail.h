/* What is read of a few processes only, and only when somebody asks: the command line and the
 * threads. From /proc, whatever the source, when the reply is made, which is after the reading that
 * the processes come from: one that has ended since has no details. */
#pragma once
#include "top/process.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    COMMAND_LIMIT = 256,     /* bytes of a command line, and of its escaped form */
    THREADS_SHOWN = 8,       /* of a process */
    THREADS_READ_MOST = 4096 /* of all processes of a reply: about 40 ms */
};

struct detail {
    uint16_t command_length; /* 0: it has none (a kernel's thread, a zombie), or is gone */
    char command[COMMAND_LIMIT];
    uint32_t threads;                      /* alive; 0: it is gone */
    uint32_t unread;                       /* ... of which so many were not looked at */
    uint32_t shown;                        /* rows that follow */
    struct process busiest[THREADS_SHOWN]; /* in order of CPU time, ties by lower tid, their pid */
};

/* What is to be read. */
struct detail_ask {
    bool command, threads;
    uint32_t threads_left; /* that may yet be read: THREADS_READ_MOST, less with every process */
};

/* Reads the details of the process with this pid and this start time (as a scan said it); of any
 * other there are none. Returns 0, also if it is gone; -errno if no descriptor or no memory was
 * left. */
int detail_read(int32_t pid, int64_t started_ns, struct detail_ask *ask, struct detail *detail);

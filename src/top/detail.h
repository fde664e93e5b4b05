/* Details of a few processes, read only on request: command line and threads. They are read from
 * /proc, whatever the source, when the reply is made: a process that has ended since the reading
 * has none. */
#pragma once
#include "top/process.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    COMMAND_LIMIT = 256,     /* bytes of a command line, also when escaped */
    THREADS_SHOWN = 8,       /* of a process */
    THREADS_READ_MOST = 4096 /* in all processes of a reply: about 40 ms */
};

struct detail {
    uint16_t command_length; /* 0: none (kernel thread, zombie), or gone */
    char command[COMMAND_LIMIT];
    uint32_t threads; /* alive; 0: the process is gone */
    uint32_t unread;  /* ... and not read */
    uint32_t shown;   /* rows that follow */
    struct process
        busiest[THREADS_SHOWN]; /* most CPU time first; ties: lower tid; pid is the tid */
};

/* What to read. */
struct detail_ask {
    bool command, threads;
    uint32_t threads_left; /* that may still be read; begins as THREADS_READ_MOST */
};

/* Reads the details of the process with this pid and start time (from a scan). Returns 0, also
 * if it is gone; -errno if descriptors or memory ran out. */
int detail_read(int32_t pid, int64_t started_ns, struct detail_ask *ask, struct detail *detail);

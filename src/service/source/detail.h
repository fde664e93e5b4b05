/* Details of a few processes, read only on request: command line and threads. They are read from
 * /proc, whatever the source, when the reply is made, so a process that has ended since the reading
 * has none. */
#pragma once
#include "service/top/process.h"

#include <stdbool.h>
#include <stddef.h>

/* Reading a thread takes 10 us, and 25 us for the first time in a while. These limits keep the
 * delay for other clients of the same loop at 2.5 ms, at worst 6.5. */
enum {
    COMMAND_LIMIT = 256,     /* bytes of a command line, also when escaped */
    THREADS_SHOWN = 8,       /* of a process */
    THREADS_READ_MOST = 256, /* in all processes of a reply */
    THREADS_SURE = 16        /* ... of these, reserved for each process */
};

struct detail {
    uint16_t command_length; /* 0: none (kernel thread, zombie), or gone */
    char command[COMMAND_LIMIT];
    uint32_t threads; /* alive; 0: the process is gone */
    uint32_t unread;  /* ... of these not read: too many */
    uint32_t shown;   /* rows that follow */
    struct process
        busiest[THREADS_SHOWN]; /* most CPU time first; ties: lower tid; pid is the tid */
};

/* What to read. */
struct detail_request {
    bool command, threads;
    uint32_t threads_left; /* that may still be read; begins as THREADS_READ_MOST */
    uint32_t reserved;     /* ... of these, for the processes after this one */
    uint32_t part; /* any number: of threads that are too many, the main one and this part are read;
                      successive numbers come to all */
};

/* How many threads a process has; 0: it is gone. */
uint32_t detail_count_threads(int32_t pid);

/* Reads the details of the process with this pid and start time (from a scan). Returns 0, also
 * if it is gone; -errno if descriptors or memory ran out. */
int detail_read(int32_t pid, int64_t started_ns, struct detail_request *ask, struct detail *detail);

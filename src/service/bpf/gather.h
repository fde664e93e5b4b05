/* Way 2 of the source bpf: sums threads into processes. No system calls. */
#pragma once
#include "service/bpf/record.h"

#include <stdbool.h>
#include <stdint.h>

/* A process while its threads are added. */
struct group {
    uint32_t changes;  /* of its sums, when its first thread was read */
    uint32_t expected; /* threads it had then */
    uint32_t added;    /* threads */
};

/* records and groups have the same capacity. Processes are added at the front, by ascending pid;
 * threads that come before their process wait at the end. */
struct gather {
    struct record *records;
    struct group *groups;
    uint32_t room, count, waiting;
    uint32_t threads; /* of all processes */
    int last_thread;
    bool is_full; /* too little room: the result is unusable */
};

void gather_begin(struct gather *gather);

/* Threads by ascending tid; a repeated one counts once. */
void gather_add(struct gather *gather, const struct thread_record *thread);

/* Afterwards .records holds .count processes. A process whose threads changed meanwhile is torn
 * (record.h). */
void gather_end(struct gather *gather);

/* Way 2 of the source bpf: adds threads up to processes. No system call. */
#pragma once
#include "top/programs/record.h"

#include <stdbool.h>
#include <stdint.h>

/* What is known of a process while its threads come. */
struct group {
    uint32_t changes;  /* of its sums, when its first thread was read */
    uint32_t expected; /* threads it had then */
};

/* records and groups: room for as many each. Processes grow from the front, by ascending pid;
 * threads that came before their process wait at the end. */
struct gather {
    struct record *records;
    struct group *groups;
    uint32_t room, count, waiting;
    uint32_t threads; /* of all of them */
    int last_thread;
    bool is_full; /* there was too little room: nothing of it can be used */
};

void gather_begin(struct gather *gather);

/* Threads by ascending number; one that comes twice counts once. */
void gather_add(struct gather *gather, const struct thread_record *thread);

/* Afterwards .records holds .count processes. Those of whom a thread ended or was made meanwhile
 * have no threads: record.h. */
void gather_end(struct gather *gather);

/* The children of a parent that forks one for each client.
 *
 * wait4 for any child looks at all of them, the idle ones too: 250 us with 4,000 idle keep-alive
 * connections. So a child says that it is about to exit, in memory that all share, and the parent
 * waits for just that one. Killed children say nothing: they are reaped by a wait for any. */
#pragma once
#include "server/server.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child {
    pid_t pid;          /* 0: this slot is free */
    unsigned next_free; /* then: the next that is, plus 1; 0: none */
};

/* In memory that children do not inherit: the parent writes to it for each client, and would have
 * to copy a page each time. */
struct children {
    struct server *server;
    bool is_idle; /* no client came during the last wait */
    unsigned count;
    unsigned used, free;      /* slots that have been used; the first that is free again, plus 1 */
    _Atomic uint64_t *ending; /* a bit for each slot; not trusted, as children write it */
    int64_t reaped_all_ns;    /* when */
    struct child slots[];
};

/* What a child says. */
struct ending {
    _Atomic uint64_t *word;
    uint64_t bit;
};

/* For --max-connections children. NULL: memory ran out. */
struct children *children_open(struct server *server);
void children_close(struct children *children);

/* For the next child: to be called before the fork. */
struct ending children_next(const struct children *children);
void children_add(struct children *children, pid_t pid);

/* In the child, as the last thing before it exits with status 0. */
static inline void ending_say(struct ending ending) {
    atomic_fetch_or(ending.word, ending.bit);
}

/* Reaps those that said that they end, and all that have ended if that was not done for 50 ms. */
void children_reap(struct children *children);

/* Reaps all that have ended. If the kernel does not tell, it is not idle: to be tried again soon.
 */
void children_reap_all(struct children *children);

void children_signal(const struct children *children, int signal_number);

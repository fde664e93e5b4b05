/* Descriptors of /proc/[pid]/stat that are kept open, to be read again at the next scan.
 *
 * Opening and closing is 40 % of the cost of reading a process for the first time, and the kernel
 * keeps the buffer of a file that stays open. A descriptor belongs to one process: when that has
 * ended, reading fails, also if its pid is used again.
 *
 * Only processes older than a second are kept, so that short-lived ones never change the table. The
 * descriptors lie above KEPT_FLOOR, where they take none that select could use; how many there may
 * be follows from the descriptor limit. Several threads may scan at once: they share the table
 * while nothing changes in it, and one of them at a time changes it. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    KEPT_FLOOR = 1100,    /* above FD_SETSIZE and what a design has open by itself */
    KEPT_NEWS_LIMIT = 64, /* processes that one scan may add */
    KEPT_YOUNG_NS = 1000000000,
};

struct kept_entry {
    int32_t pid;
    int fd;
};

struct kept {
    pthread_rwlock_t lock;
    atomic_flag is_collecting;  /* one scan at a time brings news; the others only read */
    struct kept_entry *entries; /* by ascending pid */
    uint32_t count, limit;
};

/* What a scan found: to be added, and whether something must go. */
struct kept_news {
    bool collects;
    struct kept_entry added[KEPT_NEWS_LIMIT];
    uint32_t added_count;
    uint32_t known_count; /* entries whose process was still there */
};

/* An empty table, as large as the process's descriptor limit allows: half of what lies above the
 * floor. With a low limit nothing is kept. */
void kept_open(struct kept *kept);
void kept_close(struct kept *kept);

/* Nothing will be kept. Before the first scan. */
void kept_forgo(struct kept *kept);

/* Around the use of kept_find. News begin here, empty. */
void kept_lock(struct kept *kept, struct kept_news *news);

/* The descriptor of a process, -1 if none is kept. */
int kept_find(const struct kept *kept, int32_t pid);

/* Takes over a descriptor if there is room (then it is no longer the caller's), else closes it. */
void kept_offer(const struct kept *kept, struct kept_news *news, int32_t pid, int fd);

/* Ends kept_lock, and brings the table up to date if there is need. */
void kept_unlock(struct kept *kept, struct kept_news *news);

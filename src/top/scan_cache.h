/* What is kept of each process from one scan to the next: descriptors, and what it had used when it
 * last ran.
 *
 * To open a file of /proc costs as much as to read it, and the kernel keeps the buffer of one that
 * stays open. A descriptor belongs to one process: when that has ended, reading fails, also if its
 * pid is used again. And to read `schedstat` costs a quarter of reading `stat`: while it tells that
 * a process of one thread has not been on a CPU since it slept, nothing of it can have changed, and
 * what was read then is true now.
 *
 * Only processes older than a second are kept, so that short-lived ones never change the table. The
 * descriptors lie above SCAN_CACHE_FLOOR, where they take none that select could use; how many
 * there may be follows from the descriptor limit. Several threads may scan at once: they share the
 * table while nothing changes in it, and one of them at a time changes it. */
#pragma once
#include "top/process.h"
#include "top/schedstat.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    SCAN_CACHE_FLOOR = 1100,       /* above FD_SETSIZE and what a design has open by itself */
    SCAN_CACHE_NEWS_LIMIT = 256,   /* processes that one scan may add */
    SCAN_CACHE_CHANGES_LIMIT = 64, /* ... and that it may change */
    SCAN_CACHE_YOUNG_NS = 1000000000,
    SCAN_CACHE_NAME_LIMIT = 39, /* of one that is remembered; few kernel workers have longer ones */
};

struct scan_cache_entry {
    int32_t pid;
    int stat, schedstat; /* descriptors; -1: not kept */
    uint32_t turn; /* that of the last scan that saw it; only scans that bring news touch it */
    struct schedstat at; /* what is remembered is of then; all zero: nothing is */
    int64_t user_ns, system_ns, started_ns;
    uint8_t name_length;
    char name[SCAN_CACHE_NAME_LIMIT];
};

struct scan_cache {
    pthread_rwlock_t lock;
    atomic_flag is_collecting;        /* one scan at a time brings news; the others only read */
    struct scan_cache_entry *entries; /* by ascending pid */
    uint32_t count;
    uint32_t descriptors, limit; /* how many are open, and may be */
    uint32_t turn;
};

/* What a scan found: to be added, to be changed, and whether something must go. */
struct scan_cache_news {
    bool collects;
    struct scan_cache_entry added[SCAN_CACHE_NEWS_LIMIT];
    struct scan_cache_entry changed[SCAN_CACHE_CHANGES_LIMIT];
    uint32_t changed_at[SCAN_CACHE_CHANGES_LIMIT]; /* their places in the table */
    uint32_t added_count, changed_count;
    uint32_t known_count; /* entries whose process was still there */
    uint32_t next;        /* the place where the next process is expected */
};

/* An empty table, as large as the process's descriptor limit allows: half of what lies above the
 * floor. With a low limit nothing is kept. */
void scan_cache_open(struct scan_cache *cache);
void scan_cache_close(struct scan_cache *cache);

/* Half as much will be kept: this process has two tables, and its connections need descriptors.
 * Before the first scan. */
void scan_cache_share(struct scan_cache *cache);

/* Nothing will be kept. Before the first scan. */
void scan_cache_forgo(struct scan_cache *cache);

/* Around the use of what follows. News begin here, empty. */
void scan_cache_lock(struct scan_cache *cache, struct scan_cache_news *news);

/* What is kept of a process, NULL if nothing is. Fastest by ascending pid. */
const struct scan_cache_entry *scan_cache_find(const struct scan_cache *cache,
                                               struct scan_cache_news *news, int32_t pid);

/* Its process was there. */
void scan_cache_known(struct scan_cache *cache, struct scan_cache_news *news,
                      const struct scan_cache_entry *entry);

/* Whether another process may be added, or one more changed. */
bool scan_cache_may_add(const struct scan_cache *cache, const struct scan_cache_news *news);
bool scan_cache_may_change(const struct scan_cache_news *news);

/* Moves a descriptor above the floor, where it may stay; returns it, -1 if there is no room. The
 * one that was given is closed. */
int scan_cache_move(const struct scan_cache *cache, const struct scan_cache_news *news, int fd);

/* Only where it may be added or changed. Descriptors that the changed entry no longer has are
 * closed when the table is. */
void scan_cache_add(struct scan_cache_news *news, const struct scan_cache_entry *entry);
void scan_cache_change(const struct scan_cache *cache, struct scan_cache_news *news,
                       const struct scan_cache_entry *entry,
                       const struct scan_cache_entry *changed);

/* Ends scan_cache_lock, and brings the table up to date if there is need. is_whole: every process
 * was looked at, so that those not known have ended. */
void scan_cache_unlock(struct scan_cache *cache, struct scan_cache_news *news, bool is_whole);

/* What procfs keeps of each process between scans: open descriptors, and its times when it last
 * ran.
 *
 * Opening a file of /proc costs as much as reading it, and the kernel keeps the buffer of an open
 * one. A descriptor belongs to one process: reading fails once that has ended, even if its pid is
 * reused. Reading `schedstat` costs a quarter of reading `stat`; while it shows that a process of
 * one thread has not run since it went to sleep, the remembered times are still right.
 *
 * Only processes older than a second are kept, so that short-lived ones do not change the table.
 * Descriptors are above SCAN_CACHE_FLOOR, where select cannot use them; the descriptor limit
 * determines how many there may be. Several threads may scan at once: they share the table, and one
 * at a time changes it. */
#pragma once
#include "service/procfs/schedstat.h"
#include "service/top/process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    SCAN_CACHE_FLOOR = 1100,       /* above FD_SETSIZE and the descriptors of a design */
    SCAN_CACHE_NEWS_LIMIT = 256,   /* processes that a scan may add */
    SCAN_CACHE_CHANGES_LIMIT = 64, /* ... and change */
    SCAN_CACHE_YOUNG_NS = 1000000000,
    SCAN_CACHE_RECOVERY_S = 60, /* until the limit is doubled, after descriptors ran out */
    SCAN_CACHE_NAME_LIMIT = 39, /* of a remembered process; few kernel workers have longer names */
};

struct scan_cache_entry {
    int32_t pid;
    int stat, schedstat; /* descriptors; -1: not kept */
    uint32_t turn;       /* of the last scan that saw it; set only by scans that collect news */
    struct schedstat at; /* when the times were remembered; all zero: none are */
    int64_t user_ns, system_ns, started_ns;
    uint8_t name_length;
    char name[SCAN_CACHE_NAME_LIMIT];
};

struct scan_cache {
    pthread_rwlock_t lock;
    atomic_flag is_collecting;        /* one scan at a time collects news; the others only read */
    struct scan_cache_entry *entries; /* by ascending pid */
    uint32_t count;
    uint32_t descriptors, limit; /* open, and allowed */
    uint32_t most;               /* ... allowed unless descriptors ran out */
    uint32_t turn;
    int64_t limited_ns; /* when the limit was changed, or descriptors last ran out */
};

/* What a scan found: entries to add and to change, and whether any must be removed. */
struct scan_cache_news {
    bool collects;
    struct scan_cache_entry added[SCAN_CACHE_NEWS_LIMIT];
    struct scan_cache_entry changed[SCAN_CACHE_CHANGES_LIMIT];
    uint32_t changed_at[SCAN_CACHE_CHANGES_LIMIT]; /* their indices in the table */
    uint32_t added_count, changed_count;
    uint32_t known_count; /* entries whose process was seen */
    uint32_t next;        /* index where the next process is expected */
};

/* An empty table. It may keep half of the descriptors that the limit allows above the floor; with a
 * low limit, none. */
void scan_cache_open(struct scan_cache *cache);
void scan_cache_close(struct scan_cache *cache);

/* Halves the limit: this process has two tables, and its connections need descriptors. Before the
 * first scan. */
void scan_cache_halve(struct scan_cache *cache);

/* Keeps nothing from now on. Before the first scan. */
void scan_cache_disable(struct scan_cache *cache);

/* Descriptors ran out: closes all that are kept, and halves the limit; it doubles again after each
 * SCAN_CACHE_RECOVERY_S without a call. Waits for a scan that changes the table. now_ns:
 * CLOCK_MONOTONIC. Returns whether any were closed. */
bool scan_cache_release(struct scan_cache *cache, int64_t now_ns);

/* Around the functions below. Empties the news. now_ns: CLOCK_MONOTONIC. */
void scan_cache_lock(struct scan_cache *cache, struct scan_cache_news *news, int64_t now_ns);

/* The entry of a process; NULL: none. Fastest by ascending pid. */
const struct scan_cache_entry *scan_cache_find(const struct scan_cache *cache,
                                               struct scan_cache_news *news, int32_t pid);

/* Its process was seen. */
void scan_cache_known(struct scan_cache *cache, struct scan_cache_news *news,
                      const struct scan_cache_entry *entry);

/* Whether one more process may be added, or changed. */
bool scan_cache_may_add(const struct scan_cache *cache, const struct scan_cache_news *news);
bool scan_cache_may_change(const struct scan_cache_news *news);

/* Duplicates a descriptor above the floor, to be kept, and closes the original. Returns it, or -1
 * if there is no room. */
int scan_cache_move(const struct scan_cache *cache, const struct scan_cache_news *news, int fd);

/* Only if it may be added or changed. Descriptors that a changed entry no longer has are closed
 * when the table is updated. */
void scan_cache_add(struct scan_cache_news *news, const struct scan_cache_entry *entry);
void scan_cache_change(const struct scan_cache *cache, struct scan_cache_news *news,
                       const struct scan_cache_entry *entry,
                       const struct scan_cache_entry *changed);

/* Ends scan_cache_lock, and updates the table if needed. is_whole: every process was visited, so
 * those not seen have ended. */
void scan_cache_unlock(struct scan_cache *cache, struct scan_cache_news *news, bool is_whole);

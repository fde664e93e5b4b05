#include "service/procfs/scan_cache.h"

#include "base/clock.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Of a millisecond each: together longer than a scan takes, even on a busy machine. A limit,
 * because in a process that was forked during a scan the scan never ends. */
enum { RELEASE_TRIES = 250 };

void scan_cache_open(struct scan_cache *cache) {
    struct rlimit limit;
    pthread_rwlockattr_t attributes;
    *cache = (struct scan_cache){.is_collecting = ATOMIC_FLAG_INIT};
    /* Otherwise a scan with news would wait until no other scan is running. */
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&cache->lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 2 * SCAN_CACHE_FLOOR)
        cache->limit = (uint32_t)(limit.rlim_cur - SCAN_CACHE_FLOOR < INT32_MAX
                                      ? (limit.rlim_cur - SCAN_CACHE_FLOOR) / 2
                                      : INT32_MAX / 2);
    cache->most = cache->limit;
}

static uint32_t descriptors_of(const struct scan_cache_entry *entry) {
    return (entry->stat >= 0 ? 1U : 0U) + (entry->schedstat >= 0 ? 1U : 0U);
}

static void close_if_open(int fd) {
    if (fd >= 0)
        close(fd);
}

static void close_both(const struct scan_cache_entry *entry) {
    close_if_open(entry->stat);
    close_if_open(entry->schedstat);
}

static void close_all(const struct scan_cache *cache) {
    for (uint32_t i = 0; i < cache->count; i++)
        close_both(&cache->entries[i]);
}

void scan_cache_close(struct scan_cache *cache) {
    close_all(cache);
    free(cache->entries);
    pthread_rwlock_destroy(&cache->lock);
}

void scan_cache_halve(struct scan_cache *cache) {
    cache->limit = cache->most /= 2;
}

void scan_cache_disable(struct scan_cache *cache) {
    cache->limit = cache->most = 0;
}

bool scan_cache_release(struct scan_cache *cache, int64_t now_ns) {
    int tries = RELEASE_TRIES;
    while (atomic_flag_test_and_set_explicit(&cache->is_collecting, memory_order_acquire)) {
        if (tries-- == 0)
            return false;
        poll(NULL, 0, 1);
    }
    pthread_rwlock_wrlock(&cache->lock);
    cache->limited_ns = now_ns;
    bool had_any = cache->descriptors > 0;
    if (had_any) {
        cache->limit = cache->descriptors / 2;
        close_all(cache);
        cache->count = cache->descriptors = 0;
    }
    pthread_rwlock_unlock(&cache->lock);
    atomic_flag_clear_explicit(&cache->is_collecting, memory_order_release);
    return had_any;
}

/* Called only by the scan that collects news, as only that one reads the limit. */
static void grow_back(struct scan_cache *cache, int64_t now_ns) {
    if (cache->limit == cache->most ||
        now_ns - cache->limited_ns < SCAN_CACHE_RECOVERY_S * (int64_t)NS_PER_S)
        return;
    uint32_t more = cache->limit > 0 ? cache->limit : 1;
    cache->limit += more < cache->most - cache->limit ? more : cache->most - cache->limit;
    cache->limited_ns = now_ns;
}

void scan_cache_lock(struct scan_cache *cache, struct scan_cache_news *news, int64_t now_ns) {
    news->added_count = news->changed_count = news->known_count = news->next = 0;
    news->collects =
        !atomic_flag_test_and_set_explicit(&cache->is_collecting, memory_order_acquire);
    if (news->collects) {
        cache->turn++;
        grow_back(cache, now_ns);
    }
    pthread_rwlock_rdlock(&cache->lock);
}

/* Index where pid is, or would be. */
static uint32_t position(const struct scan_cache *cache, int32_t pid) {
    uint32_t low = 0, high = cache->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (cache->entries[middle].pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct scan_cache_entry *scan_cache_find(const struct scan_cache *cache,
                                               struct scan_cache_news *news, int32_t pid) {
    uint32_t at = news->next;
    if (at >= cache->count || cache->entries[at].pid != pid)
        at = position(cache, pid);
    news->next = at;
    if (at >= cache->count || cache->entries[at].pid != pid)
        return NULL;
    news->next = at + 1;
    return &cache->entries[at];
}

void scan_cache_known(struct scan_cache *cache, struct scan_cache_news *news,
                      const struct scan_cache_entry *entry) {
    news->known_count++;
    if (news->collects)
        cache->entries[entry - cache->entries].turn = cache->turn;
}

/* Assumes that each entry needs two descriptors. */
static bool has_room(const struct scan_cache *cache, const struct scan_cache_news *news) {
    return cache->descriptors + 2 * (news->added_count + news->changed_count + 1) <= cache->limit;
}

bool scan_cache_may_add(const struct scan_cache *cache, const struct scan_cache_news *news) {
    return news->collects && news->added_count < SCAN_CACHE_NEWS_LIMIT && has_room(cache, news);
}

bool scan_cache_may_change(const struct scan_cache_news *news) {
    return news->collects && news->changed_count < SCAN_CACHE_CHANGES_LIMIT;
}

int scan_cache_move(const struct scan_cache *cache, const struct scan_cache_news *news, int fd) {
    int high = has_room(cache, news) ? fcntl(fd, F_DUPFD_CLOEXEC, SCAN_CACHE_FLOOR) : -1;
    close(fd);
    return high;
}

void scan_cache_add(struct scan_cache_news *news, const struct scan_cache_entry *entry) {
    news->added[news->added_count++] = *entry;
}

void scan_cache_change(const struct scan_cache *cache, struct scan_cache_news *news,
                       const struct scan_cache_entry *entry,
                       const struct scan_cache_entry *changed) {
    news->changed_at[news->changed_count] = (uint32_t)(entry - cache->entries);
    news->changed[news->changed_count++] = *changed;
}

static void change(struct scan_cache *cache, const struct scan_cache_news *news) {
    for (uint32_t i = 0; i < news->changed_count; i++) {
        struct scan_cache_entry *entry = &cache->entries[news->changed_at[i]];
        const struct scan_cache_entry *changed = &news->changed[i];
        if (entry->stat != changed->stat)
            close_if_open(entry->stat);
        if (entry->schedstat != changed->schedstat)
            close_if_open(entry->schedstat);
        cache->descriptors += descriptors_of(changed) - descriptors_of(entry);
        *entry = *changed;
        entry->turn = cache->turn;
    }
}

static void drop_ended(struct scan_cache *cache) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < cache->count; i++) {
        struct scan_cache_entry *entry = &cache->entries[i];
        if (entry->turn == cache->turn) {
            cache->entries[left++] = *entry;
            continue;
        }
        cache->descriptors -= descriptors_of(entry);
        close_both(entry);
    }
    cache->count = left;
}

static void insert(struct scan_cache *cache, const struct scan_cache_entry *entry) {
    uint32_t at = position(cache, entry->pid);
    memmove(cache->entries + at + 1, cache->entries + at,
            (cache->count - at) * sizeof cache->entries[0]);
    cache->entries[at] = *entry;
    cache->count++;
    cache->descriptors += descriptors_of(entry);
}

static void add(struct scan_cache *cache, const struct scan_cache_news *news) {
    size_t needed = cache->count + news->added_count;
    struct scan_cache_entry *entries = realloc(cache->entries, (needed + 1) * sizeof *entries);
    if (entries != NULL)
        cache->entries = entries;
    for (uint32_t i = 0; i < news->added_count; i++) {
        if (entries != NULL)
            insert(cache, &news->added[i]);
        else
            close_both(&news->added[i]);
    }
}

static void forget_added(struct scan_cache_news *news) {
    for (uint32_t i = 0; i < news->added_count; i++)
        close_both(&news->added[i]);
    news->added_count = 0;
}

void scan_cache_unlock(struct scan_cache *cache, struct scan_cache_news *news, bool is_whole) {
    bool has_ended = is_whole && news->known_count < cache->count;
    if (!is_whole) /* what is added may exceed the limit, as nothing was dropped */
        forget_added(news);
    pthread_rwlock_unlock(&cache->lock);
    if (!news->collects)
        return;
    if (has_ended || news->added_count > 0 || news->changed_count > 0) {
        pthread_rwlock_wrlock(&cache->lock);
        change(cache, news);
        if (has_ended)
            drop_ended(cache);
        if (news->added_count > 0)
            add(cache, news);
        pthread_rwlock_unlock(&cache->lock);
    }
    atomic_flag_clear_explicit(&cache->is_collecting, memory_order_release);
}

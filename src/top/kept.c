#include "top/kept.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

void kept_open(struct kept *kept) {
    struct rlimit limit;
    pthread_rwlockattr_t attributes;
    *kept = (struct kept){.is_collecting = ATOMIC_FLAG_INIT};
    /* Else whoever has news waits, with a client's request, until no scan is under way. */
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&kept->lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 2 * KEPT_FLOOR)
        kept->limit =
            (uint32_t)(limit.rlim_cur - KEPT_FLOOR < INT32_MAX ? (limit.rlim_cur - KEPT_FLOOR) / 2
                                                               : INT32_MAX / 2);
}

void kept_close(struct kept *kept) {
    for (uint32_t i = 0; i < kept->count; i++)
        close(kept->entries[i].fd);
    free(kept->entries);
    pthread_rwlock_destroy(&kept->lock);
}

void kept_forgo(struct kept *kept) {
    kept->limit = 0;
}

void kept_lock(struct kept *kept, struct kept_news *news) {
    news->added_count = news->known_count = 0;
    news->collects = !atomic_flag_test_and_set_explicit(&kept->is_collecting, memory_order_acquire);
    pthread_rwlock_rdlock(&kept->lock);
}

/* Where pid is, or would be. */
static uint32_t position(const struct kept *kept, int32_t pid) {
    uint32_t low = 0, high = kept->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (kept->entries[middle].pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int kept_find(const struct kept *kept, int32_t pid) {
    uint32_t at = position(kept, pid);
    return at < kept->count && kept->entries[at].pid == pid ? kept->entries[at].fd : -1;
}

void kept_offer(const struct kept *kept, struct kept_news *news, int32_t pid, int fd) {
    if (news->collects && news->added_count < KEPT_NEWS_LIMIT &&
        kept->count + news->added_count < kept->limit) {
        int high = fcntl(fd, F_DUPFD_CLOEXEC, KEPT_FLOOR);
        if (high >= 0)
            news->added[news->added_count++] = (struct kept_entry){pid, high};
    }
    close(fd);
}

static void drop_ended(struct kept *kept) {
    uint32_t left = 0;
    char byte;
    for (uint32_t i = 0; i < kept->count; i++) {
        if (pread(kept->entries[i].fd, &byte, 1, 0) == 1)
            kept->entries[left++] = kept->entries[i];
        else
            close(kept->entries[i].fd);
    }
    kept->count = left;
}

static void insert(struct kept *kept, struct kept_entry entry) {
    uint32_t at = position(kept, entry.pid);
    memmove(kept->entries + at + 1, kept->entries + at,
            (kept->count - at) * sizeof kept->entries[0]);
    kept->entries[at] = entry;
    kept->count++;
}

static void update(struct kept *kept, const struct kept_news *news) {
    if (news->known_count < kept->count)
        drop_ended(kept);
    size_t needed = kept->count + news->added_count;
    struct kept_entry *entries = realloc(kept->entries, (needed + 1) * sizeof *entries);
    if (entries != NULL)
        kept->entries = entries;
    for (uint32_t i = 0; i < news->added_count; i++) {
        if (entries != NULL)
            insert(kept, news->added[i]);
        else
            close(news->added[i].fd);
    }
}

void kept_unlock(struct kept *kept, struct kept_news *news) {
    bool has_changed = news->added_count > 0 || news->known_count < kept->count;
    pthread_rwlock_unlock(&kept->lock);
    if (!news->collects)
        return;
    if (has_changed) {
        pthread_rwlock_wrlock(&kept->lock);
        update(kept, news);
        pthread_rwlock_unlock(&kept->lock);
    }
    atomic_flag_clear_explicit(&kept->is_collecting, memory_order_release);
}

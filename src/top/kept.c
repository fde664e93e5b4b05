#include "top/kept.h"

#include <fcntl.h>
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

static uint32_t descriptors_of(const struct kept_entry *entry) {
    return (entry->stat >= 0 ? 1U : 0U) + (entry->schedstat >= 0 ? 1U : 0U);
}

static void close_if_open(int fd) {
    if (fd >= 0)
        close(fd);
}

static void close_both(const struct kept_entry *entry) {
    close_if_open(entry->stat);
    close_if_open(entry->schedstat);
}

void kept_close(struct kept *kept) {
    for (uint32_t i = 0; i < kept->count; i++)
        close_both(&kept->entries[i]);
    free(kept->entries);
    pthread_rwlock_destroy(&kept->lock);
}

void kept_share(struct kept *kept) {
    kept->limit /= 2;
}

void kept_forgo(struct kept *kept) {
    kept->limit = 0;
}

void kept_lock(struct kept *kept, struct kept_news *news) {
    news->added_count = news->changed_count = news->known_count = news->next = 0;
    news->collects = !atomic_flag_test_and_set_explicit(&kept->is_collecting, memory_order_acquire);
    if (news->collects)
        kept->turn++;
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

const struct kept_entry *kept_find(const struct kept *kept, struct kept_news *news, int32_t pid) {
    uint32_t at = news->next;
    if (at >= kept->count || kept->entries[at].pid != pid)
        at = position(kept, pid);
    news->next = at;
    if (at >= kept->count || kept->entries[at].pid != pid)
        return NULL;
    news->next = at + 1;
    return &kept->entries[at];
}

void kept_known(struct kept *kept, struct kept_news *news, const struct kept_entry *entry) {
    news->known_count++;
    if (news->collects)
        kept->entries[entry - kept->entries].turn = kept->turn;
}

/* As if all of the news needed both descriptors. */
static bool has_room(const struct kept *kept, const struct kept_news *news) {
    return kept->descriptors + 2 * (news->added_count + news->changed_count + 1) <= kept->limit;
}

bool kept_may_add(const struct kept *kept, const struct kept_news *news) {
    return news->collects && news->added_count < KEPT_NEWS_LIMIT && has_room(kept, news);
}

bool kept_may_change(const struct kept_news *news) {
    return news->collects && news->changed_count < KEPT_CHANGES_LIMIT;
}

int kept_move(const struct kept *kept, const struct kept_news *news, int fd) {
    int high = has_room(kept, news) ? fcntl(fd, F_DUPFD_CLOEXEC, KEPT_FLOOR) : -1;
    close(fd);
    return high;
}

void kept_add(struct kept_news *news, const struct kept_entry *entry) {
    news->added[news->added_count++] = *entry;
}

void kept_change(const struct kept *kept, struct kept_news *news, const struct kept_entry *entry,
                 const struct kept_entry *changed) {
    news->changed_at[news->changed_count] = (uint32_t)(entry - kept->entries);
    news->changed[news->changed_count++] = *changed;
}

static void change(struct kept *kept, const struct kept_news *news) {
    for (uint32_t i = 0; i < news->changed_count; i++) {
        struct kept_entry *entry = &kept->entries[news->changed_at[i]];
        const struct kept_entry *changed = &news->changed[i];
        if (entry->stat != changed->stat)
            close_if_open(entry->stat);
        if (entry->schedstat != changed->schedstat)
            close_if_open(entry->schedstat);
        kept->descriptors += descriptors_of(changed) - descriptors_of(entry);
        *entry = *changed;
        entry->turn = kept->turn;
    }
}

static void drop_ended(struct kept *kept) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < kept->count; i++) {
        struct kept_entry *entry = &kept->entries[i];
        if (entry->turn == kept->turn) {
            kept->entries[left++] = *entry;
            continue;
        }
        kept->descriptors -= descriptors_of(entry);
        close_both(entry);
    }
    kept->count = left;
}

static void insert(struct kept *kept, const struct kept_entry *entry) {
    uint32_t at = position(kept, entry->pid);
    memmove(kept->entries + at + 1, kept->entries + at,
            (kept->count - at) * sizeof kept->entries[0]);
    kept->entries[at] = *entry;
    kept->count++;
    kept->descriptors += descriptors_of(entry);
}

static void add(struct kept *kept, const struct kept_news *news) {
    size_t needed = kept->count + news->added_count;
    struct kept_entry *entries = realloc(kept->entries, (needed + 1) * sizeof *entries);
    if (entries != NULL)
        kept->entries = entries;
    for (uint32_t i = 0; i < news->added_count; i++) {
        if (entries != NULL)
            insert(kept, &news->added[i]);
        else
            close_both(&news->added[i]);
    }
}

static void forget_added(struct kept_news *news) {
    for (uint32_t i = 0; i < news->added_count; i++)
        close_both(&news->added[i]);
    news->added_count = 0;
}

void kept_unlock(struct kept *kept, struct kept_news *news, bool is_whole) {
    bool has_ended = is_whole && news->known_count < kept->count;
    if (!is_whole) /* what is added may take the place of what could not be dropped */
        forget_added(news);
    pthread_rwlock_unlock(&kept->lock);
    if (!news->collects)
        return;
    if (has_ended || news->added_count > 0 || news->changed_count > 0) {
        pthread_rwlock_wrlock(&kept->lock);
        change(kept, news);
        if (has_ended)
            drop_ended(kept);
        if (news->added_count > 0)
            add(kept, news);
        pthread_rwlock_unlock(&kept->lock);
    }
    atomic_flag_clear_explicit(&kept->is_collecting, memory_order_release);
}

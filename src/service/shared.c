#include "service/shared.h"

#include "service/render.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

enum {
    /* The worst of rows: rank, pid and two times in 80 bytes, each byte of the name escaped. */
    ROW_BYTES = 80 + 4 * NAME_LIMIT,
    TEXT_BYTES = 64 + TOP_LIMIT * ROW_BYTES,
    WORD = sizeof(uint64_t),
};

static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "words are shared by processes, which share no lock");

/* What replies are made of. Each member begins at a whole word. */
struct content {
    struct snapshot snapshot;
    uint64_t text_end[TOP_LIMIT + 1]; /* of the text of so many rows */
    alignas(WORD) char text[TEXT_BYTES];
};

struct shared {
    pthread_mutex_t lock; /* guards `next`, and writing to what follows it */
    struct content next;
    _Atomic uint64_t scans;
    alignas(64) _Atomic uint64_t sequence; /* odd: there is none, or it is changing */
    /* The bytes of a struct content, as words: so a reader may read what is being written. */
    _Atomic uint64_t words[(sizeof(struct content) + WORD - 1) / WORD];
    struct tally tally;
};

int shared_open(struct shared **opened) {
    void *memory =
        mmap(NULL, sizeof **opened, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -errno;
    struct shared *shared = memory;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&shared->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    atomic_init(&shared->sequence, 1);
    *opened = shared;
    return 0;
}

void shared_close(struct shared *shared) {
    munmap(shared, sizeof *shared);
}

/* Copies from the words, beginning at `offset`. Each load acquires: if it sees a word that is newer
 * than the sequence number that the reader saw, the reader's next look at that sees it moved. */
static void load(const struct shared *shared, size_t offset, void *to, size_t length) {
    const _Atomic uint64_t *word = &shared->words[offset / WORD];
    char *at = to;
    for (; length >= WORD; length -= WORD, at += WORD) {
        uint64_t value = atomic_load_explicit(word++, memory_order_acquire);
        memcpy(at, &value, WORD);
    }
    if (length > 0) {
        uint64_t value = atomic_load_explicit(word, memory_order_acquire);
        memcpy(at, &value, length);
    }
}

/* The counterpart: each store releases. Whole words, so up to 7 bytes more than `length`. */
static void store(struct shared *shared, size_t offset, size_t length) {
    const char *from = (const char *)&shared->next + offset;
    for (size_t i = 0; i < length; i += WORD) {
        uint64_t value;
        memcpy(&value, from + i, WORD);
        atomic_store_explicit(&shared->words[(offset + i) / WORD], value, memory_order_release);
    }
}

/* Returns the sequence number to finish with, odd if there is nothing to read. */
static uint64_t begin(const struct shared *shared, int64_t oldest_ns) {
    uint64_t sequence = atomic_load_explicit(&shared->sequence, memory_order_acquire);
    int64_t taken_mono_ns;
    load(shared, offsetof(struct content, snapshot.scan.taken_mono_ns), &taken_mono_ns, WORD);
    return taken_mono_ns >= oldest_ns ? sequence : 1;
}

/* Whether all that was read since `begin` belongs together. */
static bool finish(const struct shared *shared, uint64_t sequence) {
    return atomic_load_explicit(&shared->sequence, memory_order_relaxed) == sequence;
}

bool shared_text(const struct shared *shared, int64_t oldest_ns, unsigned rows, struct text *out) {
    uint64_t sequence = begin(shared, oldest_ns), length;
    if (sequence % 2 != 0)
        return false;
    load(shared, offsetof(struct content, text_end) + rows * WORD, &length, WORD);
    bool fits = text_reserve(out, length); /* if not, `overflow` says so */
    if (fits)
        load(shared, offsetof(struct content, text), out->bytes + out->length, length);
    if (!finish(shared, sequence))
        return false;
    if (fits)
        out->length += (uint32_t)length;
    return true;
}

bool shared_rows(const struct shared *shared, int64_t oldest_ns, unsigned rows,
                 struct snapshot *out) {
    uint64_t sequence = begin(shared, oldest_ns);
    if (sequence % 2 != 0)
        return false;
    load(shared, 0, out, offsetof(struct snapshot, top) + rows * sizeof out->top[0]);
    if (out->count > rows)
        out->count = rows;
    return finish(shared, sequence);
}

struct snapshot *shared_lock(struct shared *shared) {
    /* Whoever died with it left at most an odd sequence number, and half of `next`. */
    if (pthread_mutex_lock(&shared->lock) == EOWNERDEAD)
        pthread_mutex_consistent(&shared->lock);
    return &shared->next.snapshot;
}

void shared_unlock(struct shared *shared) {
    pthread_mutex_unlock(&shared->lock);
}

_Atomic uint64_t *shared_scans(struct shared *shared) {
    return &shared->scans;
}

struct tally *shared_tally(struct shared *shared) {
    return &shared->tally;
}

void shared_publish(struct shared *shared) {
    struct content *next = &shared->next;
    struct text text = text_fixed(next->text, sizeof next->text);
    render_text_head(&text);
    next->text_end[0] = text.length;
    for (unsigned row = 0; row < TOP_LIMIT; row++) {
        if (row < next->snapshot.count)
            render_text_row(&next->snapshot, row, &text);
        next->text_end[row + 1] = text.length;
    }
    assert(!text.overflow);

    uint64_t changing = atomic_load_explicit(&shared->sequence, memory_order_relaxed) | 1;
    atomic_store_explicit(&shared->sequence, changing, memory_order_relaxed);
    store(shared, 0, offsetof(struct content, text) + text.length);
    atomic_store_explicit(&shared->sequence, changing + 1, memory_order_release);
}

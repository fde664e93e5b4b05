#include "service/shared_snapshot.h"

#include "base/hot.h"
#include "base/shared_memory.h"
#include "base/shared_mutex.h"
#include "service/from_snapshot.h"
#include "service/render.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

enum {
    WORD = sizeof(uint64_t),
    TAIL_BYTES = (TEXT_TAIL_BYTES + WORD - 1) / WORD * WORD,
    TEXT_BYTES = 64 + TOP_LIMIT * TEXT_ROW_BYTES + (TOP_LIMIT + 1) * TAIL_BYTES,
};

static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "words must be lock-free, as processes share them");
static_assert(TEXT_BYTES / WORD <= UINT16_MAX, "a tail's position must fit into 16 bits");

/* The text for a number of rows: the beginning of the whole text, then a tail of its own. One word,
 * read atomically. */
struct text_span {
    uint32_t end;         /* of its rows */
    uint16_t tail_word;   /* its tail begins here */
    uint16_t tail_length; /* bytes */
};

static_assert(sizeof(struct text_span) == WORD, "a span must be one word, to be read atomically");

/* The contents of replies, in whole words. */
struct content {
    struct snapshot snapshot;
    alignas(WORD) struct text_span spans[TOP_LIMIT + 1];
    alignas(WORD) char text[TEXT_BYTES]; /* head and rows, then the tails */
};

/* Readers use only the first two; the lock is on another cache line. */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct shared_snapshot {
    _Atomic uint64_t sequence; /* odd: no snapshot, or changing */
    /* The bytes of a struct content as words, which may be read while they are written. */
    _Atomic uint64_t words[(sizeof(struct content) + WORD - 1) / WORD];
    alignas(64) pthread_mutex_t lock; /* guards `next`, and writing what is above */
    struct content next;
    struct tally tally;
};

int shared_snapshot_open(struct shared_snapshot **opened) {
    struct shared_snapshot *shared = shared_memory_map(sizeof *shared);
    if (shared == NULL)
        return -ENOMEM;
    shared_mutex_open(&shared->lock);
    atomic_init(&shared->sequence, 1);
    *opened = shared;
    return 0;
}

void shared_snapshot_close(struct shared_snapshot *shared) {
    shared_memory_unmap(shared, sizeof *shared);
}

/* Copies from the words at `offset`. Each load acquires: a reader that sees a word newer than
 * its sequence number will then see that the number has moved. */
HOT static void load(const struct shared_snapshot *shared, size_t offset, void *to, size_t length) {
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

/* The counterpart: each store releases. Copies whole words, up to 7 bytes more than `length`. */
static void store(struct shared_snapshot *shared, size_t offset, size_t length) {
    const char *from = (const char *)&shared->next + offset;
    for (size_t i = 0; i < length; i += WORD) {
        uint64_t value;
        memcpy(&value, from + i, WORD);
        atomic_store_explicit(&shared->words[(offset + i) / WORD], value, memory_order_release);
    }
}

/* Returns the sequence number for `finish`; odd: there is nothing to read. */
static uint64_t begin(const struct shared_snapshot *shared, int64_t oldest_ns) {
    uint64_t sequence = atomic_load_explicit(&shared->sequence, memory_order_acquire);
    int64_t taken_mono_ns;
    load(shared, offsetof(struct content, snapshot.scan.taken_mono_ns), &taken_mono_ns, WORD);
    return taken_mono_ns >= oldest_ns ? sequence : 1;
}

bool shared_snapshot_is_since(const struct shared_snapshot *shared, int64_t oldest_ns) {
    return begin(shared, oldest_ns) % 2 == 0;
}

/* Whether everything read since `begin` is of one snapshot. */
static bool finish(const struct shared_snapshot *shared, uint64_t sequence) {
    return atomic_load_explicit(&shared->sequence, memory_order_relaxed) == sequence;
}

HOT bool shared_snapshot_text(const struct shared_snapshot *shared, int64_t oldest_ns,
                              unsigned rows, struct text *out) {
    uint64_t sequence = begin(shared, oldest_ns);
    struct text_span span;
    if (sequence % 2 != 0)
        return false;
    load(shared, offsetof(struct content, spans) + rows * WORD, &span, WORD);
    size_t length = (size_t)span.end + span.tail_length;
    bool fits = text_reserve(out, length); /* if not, sets `overflow` */
    if (fits) {
        char *to = out->bytes + out->length;
        load(shared, offsetof(struct content, text), to, span.end);
        load(shared, offsetof(struct content, text) + (size_t)span.tail_word * WORD, to + span.end,
             span.tail_length);
    }
    if (!finish(shared, sequence))
        return false;
    if (fits)
        out->length += (uint32_t)length;
    return true;
}

bool shared_snapshot_rows(const struct shared_snapshot *shared, int64_t oldest_ns, unsigned rows,
                          struct snapshot *out) {
    uint64_t sequence = begin(shared, oldest_ns);
    if (sequence % 2 != 0)
        return false;
    load(shared, 0, out, offsetof(struct snapshot, top) + rows * sizeof out->top[0]);
    if (out->count > rows)
        out->count = rows;
    return finish(shared, sequence);
}

struct snapshot *shared_snapshot_lock(struct shared_snapshot *shared) {
    /* A holder that died left at worst an odd sequence number and an incomplete `next`. */
    shared_mutex_lock(&shared->lock);
    return &shared->next.snapshot;
}

void shared_snapshot_unlock(struct shared_snapshot *shared) {
    pthread_mutex_unlock(&shared->lock);
}

struct tally *shared_snapshot_tally(struct shared_snapshot *shared) {
    return &shared->tally;
}

/* Renders the text of `count` rows, and stores its spans. */
static void render_rows(struct content *next, uint32_t count, struct text *text) {
    struct history_row row;
    render_text_head(text);
    next->spans[0].end = text->length;
    for (uint32_t i = 0; i < count; i++) {
        row_of_process(&next->snapshot.top[i], &row);
        render_text_row(i + 1, &row, text);
        next->spans[i + 1].end = text->length;
    }
}

/* The same for the tails. */
static void render_tails(struct content *next, uint32_t count, struct text *text) {
    char space[TEXT_TAIL_BYTES];
    struct text source = text_fixed(space, sizeof space);
    const struct scan *scan = &next->snapshot.scan;
    int64_t user_ns = 0, system_ns = 0;
    render_text_source(scan, &source);
    assert(!source.overflow);
    for (uint32_t rows = 0; rows <= count; rows++) {
        struct history_row rest;
        text_add(text, "\0\0\0\0\0\0\0", -text->length % WORD);
        uint32_t begin = text->length;
        rest_of_scan(scan, user_ns, system_ns, rows, &rest);
        render_text_rest(&rest, text);
        text_add(text, source.bytes, source.length);
        next->spans[rows].tail_word = (uint16_t)(begin / WORD);
        next->spans[rows].tail_length = (uint16_t)(text->length - begin);
        if (rows < count) {
            user_ns += next->snapshot.top[rows].user_ns;
            system_ns += next->snapshot.top[rows].system_ns;
        }
    }
}

void shared_snapshot_publish(struct shared_snapshot *shared) {
    struct content *next = &shared->next;
    struct text text = text_fixed(next->text, sizeof next->text);
    uint32_t count = next->snapshot.count;
    render_rows(next, count, &text);
    render_tails(next, count, &text);
    for (uint32_t rows = count + 1; rows <= TOP_LIMIT; rows++)
        next->spans[rows] = next->spans[count];
    assert(!text.overflow);

    uint64_t changing = atomic_load_explicit(&shared->sequence, memory_order_relaxed) | 1;
    atomic_store_explicit(&shared->sequence, changing, memory_order_relaxed);
    store(shared, 0, offsetof(struct content, text) + text.length);
    atomic_store_explicit(&shared->sequence, changing + 1, memory_order_release);
}

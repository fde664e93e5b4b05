/* Names that many processes bear, each stored once: of processes, control groups and units.
 *
 * A label is known by its number, from 1; 0 is none. It stays as long as somebody uses it, and a
 * while longer: the last LABELS_RESTING that nobody uses are still found by their text. */
#pragma once
#include "history/region.h"

#include <stddef.h>
#include <stdint.h>

enum { LABELS_BUCKETS = 4096, LABELS_RESTING = 512 };

struct label {
    uint64_t hash;   /* of the whole text, of which a long one shows the end only */
    int64_t used_ns; /* CPU that it used without a place among the groups of /metrics */
    int64_t user_ns, system_ns, started_ns; /* of an answer under way, with what follows */
    uint32_t processes;
    uint32_t next_summed;
    uint32_t next; /* in its bucket, or of the free ones */
    uint32_t users;
    uint32_t rested;      /* when it last began to rest */
    uint32_t group;       /* the label that it is counted as, if not itself */
    uint8_t metric_group; /* among the groups of /metrics, from 1 */
    uint8_t length;
    char text[]; /* raw bytes */
};

struct labels {
    char *memory;
    size_t stride, text_limit; /* bytes of a label, and of its text */
    uint32_t capacity;
    uint32_t count, free; /* numbers that were ever in use; the first free one */
    uint32_t rests;       /* labels that ever began to rest */
    uint32_t buckets[LABELS_BUCKETS];
    struct {
        uint32_t label, rested;
    } resting[LABELS_RESTING];
};

/* What they take of a region, and the taking. text_limit: at most 255. */
size_t labels_bytes(size_t text_limit, uint32_t capacity);
void labels_open(struct labels *labels, size_t text_limit, uint32_t capacity,
                 struct region *region);

/* Forgets all. */
void labels_reset(struct labels *labels);

static inline struct label *label_at(const struct labels *labels, uint32_t number) {
    return (struct label *)(void *)(labels->memory + number * labels->stride);
}

/* The label of this text, new or known, with one user more; 0: there is no room. A new one has no
 * group. */
uint32_t labels_use(struct labels *labels, const char *text, size_t length);

/* One user more, and one less. */
void labels_share(const struct labels *labels, uint32_t number);
void labels_leave(struct labels *labels, uint32_t number);

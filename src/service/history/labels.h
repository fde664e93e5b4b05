/* Names of processes, control groups and units, each stored once. A label has a number, from 1;
 * 0: none. It stays while it has users; the LABELS_RESTING labels that lost theirs most recently
 * can still be found by their text. */
#pragma once
#include "service/history/region.h"

#include <stddef.h>
#include <stdint.h>

enum { LABELS_BUCKETS = 4096, LABELS_RESTING = 512 };

struct label {
    uint64_t hash;                          /* of the whole text; a long one is stored in part */
    int64_t used_ns;                        /* CPU used before it became a group of /metrics, */
    int64_t new_user_ns, new_system_ns;     /* ... of that, what their rest does not include yet, */
    uint32_t settled;                       /* ... as it was then (metric_groups.h) */
    int64_t user_ns, system_ns, started_ns; /* of an answer in progress, like the next two */
    uint32_t processes;
    uint32_t next_summed;
    uint32_t next; /* in its bucket, or in the free list */
    uint32_t users;
    uint32_t rested;      /* when it last lost its last user */
    uint32_t group;       /* the label that it is counted under, if another */
    uint8_t metric_group; /* index among the groups of /metrics, from 1 */
    uint8_t length;
    char text[]; /* raw bytes */
};

struct labels {
    char *memory;
    size_t stride, text_limit; /* bytes of a label, and of its text */
    uint32_t capacity;
    uint32_t count, free; /* numbers used so far; the first free one */
    uint32_t rests;       /* how often a label lost its last user */
    uint32_t buckets[LABELS_BUCKETS];
    struct {
        uint32_t label, rested;
    } resting[LABELS_RESTING];
};

/* The bytes of a region that they need; takes them. text_limit: at most 255. */
size_t labels_bytes(size_t text_limit, uint32_t capacity);
void labels_open(struct labels *labels, size_t text_limit, uint32_t capacity,
                 struct region *region);

/* Forgets all labels. */
void labels_reset(struct labels *labels);

static inline struct label *label_at(const struct labels *labels, uint32_t number) {
    return (struct label *)(void *)(labels->memory + number * labels->stride);
}

/* The label of this text, new or known, with one more user; 0: no room. */
uint32_t labels_use(struct labels *labels, const char *text, size_t length);

/* Adds a user; removes one. */
void labels_share(const struct labels *labels, uint32_t number);
void labels_leave(struct labels *labels, uint32_t number);

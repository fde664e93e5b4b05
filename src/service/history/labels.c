#include "service/history/labels.h"

#include <string.h>

static size_t stride_of(size_t text_limit) {
    return (sizeof(struct label) + text_limit + 7) / 8 * 8;
}

static size_t memory_bytes(size_t text_limit, uint32_t capacity) {
    return (capacity + (size_t)1) * stride_of(text_limit);
}

size_t labels_bytes(size_t text_limit, uint32_t capacity) {
    return region_share(memory_bytes(text_limit, capacity));
}

void labels_open(struct labels *labels, size_t text_limit, uint32_t capacity,
                 struct region *region) {
    *labels = (struct labels){
        .text_limit = text_limit, .capacity = capacity, .stride = stride_of(text_limit)};
    labels->memory = region_take(region, memory_bytes(text_limit, capacity));
}

void labels_reset(struct labels *labels) {
    labels->count = labels->free = labels->rests = 0;
    memset(labels->buckets, 0, sizeof labels->buckets);
    memset(labels->resting, 0, sizeof labels->resting);
}

/* FNV-1a. */
static uint64_t hash_of(const char *text, size_t length) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The text as shown: the end of a long one, where names differ. */
static size_t shorten(const struct labels *labels, const char *text, size_t length, char *out) {
    static const char gap[] = "...";
    size_t limit = labels->text_limit, kept = limit - (sizeof gap - 1);
    if (length <= limit) {
        memcpy(out, text, length);
        return length;
    }
    memcpy(out, gap, sizeof gap - 1);
    memcpy(out + sizeof gap - 1, text + length - kept, kept);
    return limit;
}

static uint32_t take_free(struct labels *labels) {
    uint32_t number = labels->free;
    if (number != 0)
        labels->free = label_at(labels, number)->next;
    else if (labels->count < labels->capacity)
        number = ++labels->count;
    return number;
}

uint32_t labels_use(struct labels *labels, const char *text, size_t length) {
    char shown[UINT8_MAX];
    uint64_t hash = hash_of(text, length);
    uint32_t *bucket = &labels->buckets[hash % LABELS_BUCKETS], number;
    size_t shown_length = shorten(labels, text, length, shown);
    for (number = *bucket; number != 0; number = label_at(labels, number)->next) {
        struct label *label = label_at(labels, number);
        if (label->hash == hash && label->length == shown_length &&
            memcmp(label->text, shown, shown_length) == 0) {
            label->users++;
            return number;
        }
    }
    number = take_free(labels);
    if (number == 0)
        return 0;
    struct label *label = label_at(labels, number);
    *label =
        (struct label){.hash = hash, .next = *bucket, .users = 1, .length = (uint8_t)shown_length};
    memcpy(label->text, shown, shown_length);
    *bucket = number;
    return number;
}

void labels_share(const struct labels *labels, uint32_t number) {
    if (number != 0)
        label_at(labels, number)->users++;
}

static void forget(struct labels *labels, uint32_t number) {
    struct label *label = label_at(labels, number);
    uint32_t *link = &labels->buckets[label->hash % LABELS_BUCKETS];
    while (*link != number)
        link = &label_at(labels, *link)->next;
    *link = label->next;
    label->next = labels->free;
    label->rested = 0;
    labels->free = number;
}

/* Replaces the label that has been unused longest, unless it has users again. */
static void rest(struct labels *labels, uint32_t number) {
    uint32_t at = ++labels->rests % LABELS_RESTING, oldest = labels->resting[at].label;
    if (oldest != 0) {
        const struct label *label = label_at(labels, oldest);
        if (label->users == 0 && label->rested == labels->resting[at].rested)
            forget(labels, oldest);
    }
    label_at(labels, number)->rested = labels->rests;
    labels->resting[at].label = number;
    labels->resting[at].rested = labels->rests;
}

void labels_leave(struct labels *labels, uint32_t number) {
    if (number != 0 && --label_at(labels, number)->users == 0)
        rest(labels, number);
}

#include "service/bpf/ring.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

/* Before each record: its length, and a bit while it is being written. */
enum { HEADER_BYTES = 8 };
static const uint32_t is_being_written = UINT32_C(1) << 31;

static_assert(sizeof(struct record) == 64, "a cache line; it ends where a header may be");

/* A record may wrap around the end of the ring. */
static void copy(const struct ring *ring, unsigned long from, struct record *record) {
    const size_t at = from % ring->size, left = ring->size - at;
    const size_t first = left < sizeof *record ? left : sizeof *record;
    memcpy(record, ring->bytes + at, first);
    memcpy((char *)record + first, ring->bytes, sizeof *record - first);
}

bool ring_is_empty(const struct ring *ring) {
    return *ring->read_to == __atomic_load_n(ring->written_to, __ATOMIC_ACQUIRE);
}

bool ring_take(const struct ring *ring, struct record *record) {
    const unsigned long at = *ring->read_to;
    if (ring_is_empty(ring))
        return false;
    const void *header = ring->bytes + at % ring->size;
    if ((__atomic_load_n((const uint32_t *)header, __ATOMIC_ACQUIRE) & is_being_written) != 0)
        return false;
    copy(ring, at + HEADER_BYTES, record);
    __atomic_store_n(ring->read_to, at + HEADER_BYTES + sizeof *record, __ATOMIC_RELEASE);
    return true;
}

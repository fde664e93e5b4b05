#include "top/order.h"

/* The end of the run that begins at `from`. */
static uint32_t run_end(const uint64_t *keys, uint32_t from, uint32_t count) {
    while (from + 1 < count && keys[from] <= keys[from + 1])
        from++;
    return from + 1 < count ? from + 1 : count;
}

static void merge(const uint64_t *from, uint32_t first, uint32_t middle, uint32_t end,
                  uint64_t *to) {
    uint32_t left = first, right = middle;
    for (uint32_t at = first; at < end; at++) {
        if (right == end || (left < middle && from[left] <= from[right]))
            to[at] = from[left++];
        else
            to[at] = from[right++];
    }
}

uint64_t *order_by_pid(const struct record *records, uint32_t count, uint64_t *keys,
                       uint64_t *spare) {
    for (uint32_t i = 0; i < count; i++)
        keys[i] = (uint64_t)(uint32_t)records[i].pid << 32 | i;
    for (;;) {
        uint32_t at = 0, runs = 0;
        while (at < count) {
            uint32_t middle = run_end(keys, at, count);
            if (at == 0 && middle == count)
                return keys;
            uint32_t end = middle < count ? run_end(keys, middle, count) : count;
            merge(keys, at, middle, end, spare);
            at = end;
            runs++;
        }
        uint64_t *merged = spare;
        spare = keys;
        keys = merged;
        if (runs <= 1)
            return keys;
    }
}

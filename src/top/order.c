#include "top/order.h"

#include <stdbool.h>

static bool is_after(const struct record *records, uint32_t a, uint32_t b) {
    return records[a].pid > records[b].pid;
}

/* The end of the run that begins at `from`. */
static uint32_t run_end(const struct record *records, const uint32_t *order, uint32_t from,
                        uint32_t count) {
    while (from + 1 < count && !is_after(records, order[from], order[from + 1]))
        from++;
    return from + 1 < count ? from + 1 : count;
}

static void merge(const struct record *records, const uint32_t *from, uint32_t first,
                  uint32_t middle, uint32_t end, uint32_t *to) {
    uint32_t left = first, right = middle;
    for (uint32_t at = first; at < end; at++) {
        if (right == end || (left < middle && !is_after(records, from[left], from[right])))
            to[at] = from[left++];
        else
            to[at] = from[right++];
    }
}

uint32_t *order_by_pid(const struct record *records, uint32_t count, uint32_t *order,
                       uint32_t *spare) {
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (;;) {
        uint32_t at = 0, runs = 0;
        while (at < count) {
            uint32_t middle = run_end(records, order, at, count);
            if (at == 0 && middle == count)
                return order;
            uint32_t end = middle < count ? run_end(records, order, middle, count) : count;
            merge(records, order, at, middle, end, spare);
            at = end;
            runs++;
        }
        uint32_t *merged = spare;
        spare = order;
        order = merged;
        if (runs <= 1)
            return order;
    }
}

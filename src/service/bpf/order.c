#include "service/bpf/order.h"

#include <stddef.h>

static uint32_t run_end(const struct record *records, uint32_t from, uint32_t count) {
    while (from + 1 < count && records[from].pid <= records[from + 1].pid)
        from++;
    return from + 1;
}

static void sift_down(struct order *order, uint32_t at) {
    for (;;) {
        uint32_t least = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < order->count; child++)
            if (order->runs[child].pid < order->runs[least].pid)
                least = child;
        if (least == at)
            return;
        const struct run kept = order->runs[at];
        order->runs[at] = order->runs[least];
        order->runs[least] = kept;
        at = least;
    }
}

void order_begin(struct order *order, const struct record *records, uint32_t count,
                 struct run *runs) {
    *order = (struct order){.records = records, .runs = runs};
    for (uint32_t at = 0; at < count; at = runs[order->count - 1].end)
        runs[order->count++] = (struct run){records[at].pid, at, run_end(records, at, count)};
    for (uint32_t i = order->count / 2; i-- > 0;)
        sift_down(order, i);
}

const struct record *order_next(struct order *order) {
    if (order->count == 0)
        return NULL;
    struct run *first = &order->runs[0];
    const struct record *record = &order->records[first->at++];
    if (first->at < first->end)
        first->pid = order->records[first->at].pid;
    else
        *first = order->runs[--order->count];
    sift_down(order, 0);
    return record;
}

/* While a snapshot is taken its rows are a heap with the least busy on top, the next to be
 * replaced. */
#include "service/top/snapshot.h"

#include <stdbool.h>
#include <stddef.h>

static bool is_busier(const struct process *a, const struct process *b) {
    int64_t a_ns = a->user_ns + a->system_ns, b_ns = b->user_ns + b->system_ns;
    return a_ns != b_ns ? a_ns > b_ns : a->pid < b->pid;
}

static void swap(struct process *a, struct process *b) {
    struct process kept = *a;
    *a = *b;
    *b = kept;
}

static void sift_down(struct process *heap, size_t count, size_t at) {
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
            if (is_busier(&heap[least], &heap[child]))
                least = child;
        if (least == at)
            return;
        swap(&heap[at], &heap[least]);
        at = least;
    }
}

static void sift_up(struct process *heap, size_t at) {
    while (at > 0 && is_busier(&heap[(at - 1) / 2], &heap[at])) {
        swap(&heap[at], &heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

void snapshot_begin(struct snapshot *snapshot) {
    snapshot->count = 0;
}

void snapshot_offer(struct snapshot *snapshot, const struct process *process) {
    if (snapshot->count < TOP_LIMIT) {
        snapshot->top[snapshot->count] = *process;
        sift_up(snapshot->top, snapshot->count++);
    } else if (is_busier(process, &snapshot->top[0])) {
        snapshot->top[0] = *process;
        sift_down(snapshot->top, TOP_LIMIT, 0);
    }
}

void snapshot_end(struct snapshot *snapshot) {
    for (size_t left = snapshot->count; left > 1; left--) {
        swap(&snapshot->top[0], &snapshot->top[left - 1]);
        sift_down(snapshot->top, left - 1, 0);
    }
}

/* Whether the kernel's iterators show all processes. */
#include "base/clock.h"
#include "service/bpf/bpf_state.h"

#include <errno.h>
#include <fcntl.h>

/* What bpf_complete compares, and finds. */
struct comparison {
    struct order order;
    const struct record *next; /* in that order; NULL: none */
    int64_t before_ns;         /* since boot: processes started earlier must have been seen */
    struct procfs *procfs;
    bool misses_first, misses_others;
};

static void compare(void *context, const struct process *process) {
    struct comparison *comparison = context;
    struct process again;
    while (comparison->next != NULL && comparison->next->pid < process->pid)
        comparison->next = order_next(&comparison->order);
    if (comparison->next != NULL && comparison->next->pid == process->pid)
        return;
    if (process->started_ns > comparison->before_ns ||
        procfs_read(comparison->procfs, process->pid, &again) != 0 ||
        again.started_ns != process->started_ns)
        return;
    if (process->pid == 1)
        comparison->misses_first = true;
    else
        comparison->misses_others = true;
}

static int compare_all(struct bpf *bpf, struct procfs *procfs, const char **reason) {
    struct comparison comparison = {.procfs = procfs, .before_ns = clock_boot_ns() - NS_PER_S};
    struct scan scan;
    const struct record *records = NULL;
    int64_t count = bpf_read(bpf, &records);
    if (count == -ENOSPC)
        return 0; /* then scans use procfs */
    if (count < 0) {
        *reason = kernel_side_reason((int)count);
        return (int)count;
    }
    order_begin(&comparison.order, records, (uint32_t)count, bpf->runs);
    comparison.next = order_next(&comparison.order);
    int error = procfs_scan(procfs, &scan, compare, &comparison);
    if (comparison.misses_others) {
        *reason = "this kernel hides processes from it";
        return -ENOTSUP;
    }
    if (error == 0 && comparison.misses_first)
        bpf->first = openat(procfs->directory, "1/stat", O_RDONLY | O_CLOEXEC);
    return error;
}

int bpf_complete(struct bpf *bpf, const char **reason) {
    struct procfs once;
    int error = procfs_open(&once, "/proc");
    if (error != 0)
        return error;
    scan_cache_disable(&once.cache);
    error = compare_all(bpf, &once, reason);
    procfs_close(&once);
    return error;
}

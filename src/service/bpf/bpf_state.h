/* Shared by the parts of the source bpf. */
#pragma once
#include "service/bpf/bpf.h"
#include "service/bpf/gather.h"
#include "service/bpf/kernel_side.h"
#include "service/bpf/monotonic.h"
#include "service/bpf/order.h"

#include <pthread.h>

enum { BPF_ITERATOR_BYTES = 32 * 1024 }; /* the most that the kernel fills at once */

/* In memory that forked processes share, before the tables. */
struct bpf_shared {
    pthread_mutex_t turn; /* one scan at a time; guards all of this */
    struct monotonic monotonic;
    struct gather gather;
    uint32_t left_to_procfs; /* scans */
    int64_t busy_mono_ns, busy_user_ns,
        busy_system_ns; /* what all CPUs did, and when it was read */
    char buffer[BPF_ITERATOR_BYTES];
};

struct bpf {
    struct kernel_side kernel;
    uint32_t room;
    int64_t tick_ns;
    struct bpf_shared *shared;
    size_t shared_bytes;
    struct run *runs; /* for order_begin */
    int first;        /* /proc/1/stat, if the kernel's iterators skip that process; else -1 */
};

/* Has the kernel read all processes. Returns how many are in *records, or -errno; -ENOSPC: too
 * many. */
int64_t bpf_read(struct bpf *bpf, const struct record **records);

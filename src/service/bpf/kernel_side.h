/* The programs in the kernel: descriptors and mapped memory. */
#pragma once
#include "service/bpf/bpf.h"
#include "service/bpf/kernel_load.h"
#include "service/bpf/record.h"
#include "service/bpf/ring.h"

/* For one of the two ways. */
struct kernel_side {
    struct kernel_loaded loaded;
    struct record *records; /* way 1: where the first records of its map are mapped */
    size_t reserved_bytes, mapped_bytes;
};

/* Returns 0 or -errno. */
int kernel_side_open(struct kernel_side *side, enum bpf_path path, uint32_t room);
void kernel_side_close(struct kernel_side *side);

/* Way 1: has the kernel read all processes. Returns 0 or -errno. */
int kernel_side_run(const struct kernel_side *side, struct reading *reading);

/* Way 2: a file of all threads, to be read once; the caller closes it. Returns it or -errno. */
int kernel_side_iterate(const struct kernel_side *side);

/* Way 1: makes the first `count` records readable. Mapped records count as resident memory, so only
 * as many are mapped as were ever needed. Safe with forks at any time. Returns 0 or -errno. */
int kernel_side_map(struct kernel_side *side, uint32_t count);

/* Ended processes. */
struct kernel_ends {
    struct kernel_loaded loaded;
    struct ring ring;
    const uint64_t *lost; /* processes that did not fit */
};

int kernel_ends_open(struct kernel_ends *ends);
void kernel_ends_close(struct kernel_ends *ends);

/* To call before and after ring_take: mapped all the time, the bytes would count as resident memory
 * and each fork would copy their page table. Returns 0 or -errno. */
int kernel_ends_map(struct kernel_ends *ends);
void kernel_ends_unmap(struct kernel_ends *ends);

/* Why a program could not be loaded, in a few words. */
const char *kernel_side_reason(int error);

/* Loads the programs into the kernel; what remains are descriptors and mapped memory. */
#pragma once
#include "top/bpf.h"
#include "top/programs/record.h"
#include "top/ring.h"

/* For one of the two ways; the other's members are -1 or NULL. */
struct kernel_side {
    int run;                /* way 1: the program */
    int map;                /* way 1: the map it writes */
    struct record *records; /* ... and where its first records are mapped */
    size_t reserved_bytes, mapped_bytes;
    int link; /* way 2: the iterator */
};

/* Returns 0 or -errno. */
int kernel_side_open(struct kernel_side *side, enum bpf_path path, uint32_t room);
void kernel_side_close(struct kernel_side *side);

/* Makes the first `count` records readable. Mapped records count as memory of this process, so
 * only as many are mapped as were ever needed. Safe with forks at any moment. Returns 0 or
 * -errno. */
int kernel_side_map(struct kernel_side *side, uint32_t count);

/* Ended processes. */
struct kernel_ends {
    int link;
    struct ring ring;
    const uint64_t *lost; /* processes for which there was no room */
};

int kernel_ends_open(struct kernel_ends *ends);
void kernel_ends_close(struct kernel_ends *ends);

/* Why a program could not be loaded, in a few words. */
const char *kernel_side_reason(int error);

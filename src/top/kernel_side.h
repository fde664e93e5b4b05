/* Loads the programs into the kernel, and leaves of all that this takes only descriptors and
 * mapped memory. */
#pragma once
#include "top/bpf.h"
#include "top/programs/record.h"

/* One of the two ways: what it has not is -1 or NULL. */
struct kernel_side {
    int run;                /* way 1: the program */
    int map;                /* way 1: what it writes */
    struct record *records; /* ... and where the first of them are mapped */
    size_t reserved_bytes, mapped_bytes;
    int link; /* way 2: the iterator */
};

/* Returns 0 or -errno. */
int kernel_side_open(struct kernel_side *side, enum bpf_path path, uint32_t room);
void kernel_side_close(struct kernel_side *side);

/* Makes the first `count` records readable: what is mapped counts as this process's memory, so no
 * more is than was ever needed. A fork at any moment leaves both sides with what they can use.
 * Returns 0 or -errno. */
int kernel_side_map(struct kernel_side *side, uint32_t count);

/* The ring of processes that ended. */
struct kernel_ends {
    int ring; /* the map */
    int link;
    uint64_t *lost; /* processes that found no room, mapped */
};

int kernel_ends_open(struct kernel_ends *ends);
void kernel_ends_close(struct kernel_ends *ends);

/* In a few words why a program could not be loaded. */
const char *kernel_side_reason(int error);

/* A BPF ring buffer of records: the kernel writes, one thread reads. No system call. */
#pragma once
#include "service/bpf/record.h"

#include <stdbool.h>
#include <stddef.h>

/* Both positions are byte counts that only grow. */
struct ring {
    unsigned long *read_to;          /* the reader's; the bytes before it are free */
    const unsigned long *written_to; /* the kernel's */
    const char *bytes;               /* mapped when a record is taken */
    size_t size;                     /* of them, a power of two */
};

bool ring_is_empty(const struct ring *ring);

/* Takes the next record; false: there is none yet. */
bool ring_take(const struct ring *ring, struct record *record);

/* Visits records by ascending pid. The kernel lists processes in order of creation and hands out
 * pids by counting up, so there are few runs to merge, and no room is taken for each record. */
#pragma once
#include "top/bpf_programs/record.h"

#include <stdint.h>

/* Records in a row by ascending pid, from `at` to before `end`. */
struct run {
    int pid; /* of the first */
    uint32_t at, end;
};

struct order {
    const struct record *records;
    struct run *runs; /* a heap with the lowest pid on top */
    uint32_t count;   /* of them */
};

/* runs: room for as many as there are records; only as many are touched as there are runs. */
void order_begin(struct order *order, const struct record *records, uint32_t count,
                 struct run *runs);

/* NULL: there are no more. */
const struct record *order_next(struct order *order);

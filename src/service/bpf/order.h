/* Visits records by ascending pid. The kernel lists processes in order of creation and assigns pids
 * in ascending order, so there are few sorted runs to merge, and no memory is needed per record. */
#pragma once
#include "service/bpf/record.h"

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

/* runs: with room for `count`; only as many are touched as there are runs. */
void order_begin(struct order *order, const struct record *records, uint32_t count,
                 struct run *runs);

/* NULL: there are no more. */
const struct record *order_next(struct order *order);

/* Sorts the records of a scan by pid. */
#pragma once
#include "top/programs/record.h"

#include <stdint.h>

/* order and spare have room for `count` numbers each. Returns one of the two: indices of the
 * records by ascending pid. The kernel lists processes in order of creation and hands out pids
 * by counting up, so there are few runs to merge. */
uint32_t *order_by_pid(const struct record *records, uint32_t count, uint32_t *order,
                       uint32_t *spare);

/* Puts the records of one scan into the order of their pids. */
#pragma once
#include "top/programs/record.h"

#include <stdint.h>

/* keys and spare: room for `count` numbers each. Returns one of the two: its low 32 bits are the
 * indices of the records by ascending pid. The kernel lists processes in the order in which they
 * were made, and pids are handed out by counting up: there are few runs to be merged. */
uint64_t *order_by_pid(const struct record *records, uint32_t count, uint64_t *keys,
                       uint64_t *spare);

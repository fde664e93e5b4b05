/* Memory that this process shares with the processes it forks.
 *
 * Small pieces share one mapping, for two reasons: each mapping makes a fork 1 us slower; and a
 * forked process must fault in each page again, where one read fault maps all AROUND_BYTES around
 * it (a write fault maps only one page).
 *
 * Not thread-safe. */
#pragma once
#include <stddef.h>

/* Whole pages of zeroes; NULL if memory ran out. Only touched pages cost memory. */
void *shared_memory_map(size_t bytes);

/* bytes: as passed to shared_memory_map. */
void shared_memory_unmap(void *memory, size_t bytes);

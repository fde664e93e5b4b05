/* Memory that this process shares with those it forks.
 *
 * What is taken lies side by side, for two reasons: each mapping makes a fork 1 us slower; and a
 * forked process, which must find each page of it again, finds the AROUND_BYTES around the first
 * that it reads with one page fault (a write finds only its own page). Large pieces lie alone.
 *
 * To be called by one thread at a time. */
#pragma once
#include <stddef.h>

/* Whole pages of zeroes; NULL if there is no memory. Only touched pages cost memory. */
void *shared_memory_take(size_t bytes);

/* Gives them back to the system; `bytes` as taken. */
void shared_memory_give(void *memory, size_t bytes);

/* Where threads or processes wait until all may start at once.
 *
 * A futex in shared memory: opening it wakes all; nobody has to arrive, so a worker that dies early
 * does not block the others. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct start_line {
    _Atomic uint32_t state; /* 0: wait */
};

/* Waits. false: the load does not start, or must stop. */
bool start_line_wait(struct start_line *line);

void start_line_open(struct start_line *line);

/* Releases all that wait; start_line_wait returns false. */
void start_line_cancel(struct start_line *line);

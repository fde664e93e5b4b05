/* The line at which threads or processes wait until all may start at once.
 *
 * A futex in memory that they share: opening it wakes all; nobody has to arrive, so a worker that
 * dies on its way holds up no other one. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct start_line {
    _Atomic uint32_t state; /* 0: wait */
};

/* Waits. true: go; false: this load does not start, or is to stop. */
bool start_line_wait(struct start_line *line);

void start_line_open(struct start_line *line);

/* Sends home whoever waits. */
void start_line_cancel(struct start_line *line);

/* Resources that the client itself used in its window: the time in which requests start. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct client_cost {
    int64_t wall_ns;   /* length of the window */
    int64_t cpu_ns;    /* CPU time, including that of reaped children */
    int64_t queued_ns; /* time that the first thread spent in the run queue */
    bool is_over;
};

void client_cost_begin(struct client_cost *cost);

/* The first call ends the window, which does not include waiting for the last replies. */
void client_cost_end(struct client_cost *cost);

/* How many CPUs this process may use. */
unsigned client_cost_cpus(void);

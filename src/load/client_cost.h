/* What the client itself spent in its window, the time in which requests start. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct client_cost {
    int64_t wall_ns;   /* how long the window was */
    int64_t cpu_ns;    /* CPU time, reaped children included */
    int64_t queued_ns; /* how long its first thread was runnable without a CPU */
    bool is_over;
};

void client_cost_begin(struct client_cost *cost);

/* The first call ends the window; waiting for the last replies is no part of it. */
void client_cost_end(struct client_cost *cost);

/* How many CPUs this process may use. */
unsigned client_cost_cpus(void);

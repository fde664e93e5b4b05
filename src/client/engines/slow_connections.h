/* Connections in addition to the measured ones that send requests and read replies one byte at a
 * time, like clients on a bad network or malicious ones (slowloris).
 *
 * Each has a turn every 10 ms. The turns are spread evenly, so that they do not delay the measured
 * requests all at once. A turn is one system call. */
#pragma once
#include "client/load/load.h"

struct slow;

/* Opens load->slow_count connections. Returns 0, or -errno and load->problem. */
int slow_open(struct load *load, struct slow **opened);

/* Starts the turns. */
void slow_begin(struct slow *slow, int64_t now_ns);

/* When the next turn is due, CLOCK_MONOTONIC. */
int64_t slow_wake_ns(const struct slow *slow);

/* Takes the turns that are due. */
void slow_serve(struct slow *slow, int64_t now_ns);

void slow_close(struct slow *slow);

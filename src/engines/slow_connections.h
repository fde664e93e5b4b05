/* Connections beside the measured ones that send requests and read replies a byte at a time:
 * clients on a bad line, or malicious ones.
 *
 * Each has a turn every 10 ms. The turns are spread evenly, so that they do not delay the measured
 * requests all at once. A turn is one system call. */
#pragma once
#include "load/load.h"

struct slow;

/* Connects load->slow_count of them. Returns 0, or -errno and load->problem. */
int slow_open(struct load *load, struct slow **opened);

/* The turns begin. */
void slow_begin(struct slow *slow, int64_t now_ns);

/* When the next turn is due. */
int64_t slow_wake_ns(const struct slow *slow);

/* Takes the turns that are due. */
void slow_serve(struct slow *slow, int64_t now_ns);

void slow_close(struct slow *slow);

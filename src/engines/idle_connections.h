/* Idle connections beside the measured ones: what a server pays for clients that send nothing.
 *
 * They cost the client nothing: one descriptor stands for all of them in the engine's epoll set,
 * and is ready only when the server ends one of them. */
#pragma once
#include "load/load.h"

struct idle;

/* Connects load->idle_count of them. Returns 0, or -errno and load->problem. */
int idle_open(struct load *load, struct idle **opened);

/* Readable when idle_serve has something to do. */
int idle_fd(const struct idle *idle);

/* Closes and counts those that the server has ended. */
void idle_serve(struct idle *idle);

void idle_close(struct idle *idle);

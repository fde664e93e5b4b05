/* Idle connections in addition to the measured ones: they show what a server pays for clients that
 * send nothing.
 *
 * They cost the client nothing: in the engine's epoll set, one descriptor represents all of them,
 * and is ready only when the server closes one. */
#pragma once
#include "client/load/load.h"

struct idle;

/* Opens load->idle_count connections. Returns 0, or -errno and load->problem. */
int idle_open(struct load *load, struct idle **opened);

/* Readable when idle_serve has something to do. */
int idle_fd(const struct idle *idle);

/* Counts and closes some of those that the server has closed, or all of them. */
int idle_serve(struct idle *idle); /* returns how many events there were */
void idle_serve_all(struct idle *idle);

void idle_close(struct idle *idle);

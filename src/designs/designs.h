/* All designs.
 *
 * To add one: write its file, declare it here, add it to the table in designs.c and to the sources
 * in meson.build. It is then listed, raced and tested. See docs/adding-a-design.md. */
#pragma once
#include "server/design.h"

extern const struct design design_iterative;
extern const struct design design_fork_per_client;
extern const struct design design_prefork_accept;
extern const struct design design_prefork_flock;
extern const struct design design_prefork_mutex;
extern const struct design design_prefork_fdpass;
extern const struct design design_thread_per_client;
extern const struct design design_prethread_mutex;
extern const struct design design_prethread_queue;
extern const struct design design_select;
extern const struct design design_poll;
extern const struct design design_epoll;
extern const struct design design_epoll_edge;
extern const struct design design_epoll_workers;
extern const struct design design_reactors;
extern const struct design design_uring;
extern const struct design design_uring_reactors;

/* The table, in the order of every list and chart; it ends with NULL. */
extern const struct design *const designs[];

/* NULL: there is none of this name. */
const struct design *design_find(const char *name);

/* As `missing` above, of any design. */
const char *design_missing(const struct design *design);

/* How many clients it serves at a time, however silent they are: "one", "workers" (as many as it
 * has) or "all". */
const char *design_serves(const struct design *design);

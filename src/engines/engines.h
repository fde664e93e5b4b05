/* All engines: what makes a load's connections. */
#pragma once
#include "load/load.h"

extern const struct engine engine_epoll, engine_thread, engine_fork;

/* The default first; ended by NULL. */
extern const struct engine *const engines[];

/* NULL if there is none of that name. */
const struct engine *engine_find(const char *name);

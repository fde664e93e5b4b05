/* All engines. An engine makes the connections and requests of a load. */
#pragma once
#include "client/load/load.h"

extern const struct engine engine_epoll, engine_thread, engine_fork;

/* The default first; ends with NULL. */
extern const struct engine *const engines[];

/* Returns NULL if no engine has this name. */
const struct engine *engine_find(const char *name);

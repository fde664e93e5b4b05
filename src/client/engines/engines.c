#include "client/engines/engines.h"

#include <stddef.h>
#include <string.h>

const struct engine *const engines[] = {&engine_epoll, &engine_thread, &engine_fork, NULL};

const struct engine *engine_find(const char *name) {
    for (const struct engine *const *engine = engines; *engine != NULL; engine++)
        if (strcmp((*engine)->name, name) == 0)
            return *engine;
    return NULL;
}

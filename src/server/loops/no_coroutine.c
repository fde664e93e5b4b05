/* Replaces coroutines in a build without Boost.Context. */
#include "server/loops/coroutine.h"

#include <stddef.h>

const char *coroutine_missing(void) {
    return "this build has no Boost.Context (Debian: libboost-context-dev)";
}

struct coroutine *coroutine_new(struct coroutine_pool *pool, coroutine_function *function,
                                void *argument) {
    (void)pool, (void)function, (void)argument;
    return NULL;
}

int coroutine_resume(struct coroutine *coroutine) {
    (void)coroutine;
    return -1;
}

void coroutine_yield(struct coroutine *self, int with) {
    (void)self, (void)with;
}

void coroutine_free(struct coroutine_pool *pool, struct coroutine *coroutine) {
    (void)pool, (void)coroutine;
}

void coroutine_pool_close(struct coroutine_pool *pool) {
    (void)pool;
}

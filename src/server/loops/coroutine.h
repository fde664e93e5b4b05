/* Coroutines: functions with stacks of their own, which give way and go on later. Switched by
 * Boost.Context, without a system call.
 *
 * A stack has a fixed size, below it a page that must not be touched, and is used again for the
 * next coroutine: pages that were never touched take no memory. */
#pragma once
struct opening;
struct server;

enum { COROUTINE_STACK_BYTES = 128 * 1024 }; /* a scan needs about 80 KiB */

struct coroutine;

/* Stacks that one thread can use again; all zero: none. */
struct coroutine_pool {
    struct coroutine *spare;
    unsigned spare_count;
};

typedef void coroutine_function(struct coroutine *self, void *argument);

/* NULL, or why this build has none. */
const char *coroutine_missing(void);

/* Runs nothing yet. NULL: memory ran out. */
struct coroutine *coroutine_new(struct coroutine_pool *pool, coroutine_function *function,
                                void *argument);

/* Lets it go on until it gives way, and returns what it gave; or until the function returns: then
 * -1, and it may only be freed. */
int coroutine_resume(struct coroutine *coroutine);

/* In the function: gives way with a number that is not negative. */
void coroutine_yield(struct coroutine *self, int with);

/* Whether or not its function has returned. */
void coroutine_free(struct coroutine_pool *pool, struct coroutine *coroutine);
void coroutine_pool_close(struct coroutine_pool *pool);

/* The loop of the design coroutines (designs/coroutines.c). opening: NULL: the only loop. Returns 0
 * or -errno. */
int coroutines_run(struct server *server, struct opening *opening);

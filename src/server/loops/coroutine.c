#include "server/loops/coroutine.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

enum { SPARE_LIMIT = 1024 };

/* Boost.Context has no header for C (boost/context/detail/fcontext.hpp). */
struct transfer {
    void *from; /* the context that was left */
    void *data;
};
struct transfer jump_fcontext(void *to, void *data);
void *make_fcontext(void *stack_top, size_t size, void (*function)(struct transfer from));

/* At the top of its stack. */
struct coroutine {
    void *other; /* what a switch continues: the coroutine, or while it runs, whoever resumed it */
    coroutine_function *function;
    void *argument;
    int given; /* when it gave way last */
    struct coroutine *next_spare;
    char *stack; /* its mapping, with the page below it */
    size_t mapped;
    /* For sanitizers: */
    void *fiber, *outside;
    const void *outside_stack;
    size_t outside_size;
};

const char *coroutine_missing(void) {
    return NULL;
}

/* Continues what was left last, until the next switch back. Sanitizers must know which stack is in
 * use. */
static void switch_over(struct coroutine *coroutine, bool into) {
#if defined(__SANITIZE_ADDRESS__)
    void *shadow = NULL;
    const char *bottom = (const char *)coroutine - COROUTINE_STACK_BYTES;
    __sanitizer_start_switch_fiber(&shadow, into ? bottom : coroutine->outside_stack,
                                   into ? COROUTINE_STACK_BYTES : coroutine->outside_size);
#elif defined(__SANITIZE_THREAD__)
    if (into)
        coroutine->outside = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(into ? coroutine->fiber : coroutine->outside, 0);
#endif
    (void)into;
    const struct transfer back = jump_fcontext(coroutine->other, coroutine);
    coroutine->other = back.from;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(shadow, NULL, NULL);
#endif
}

/* What runs first on the stack. */
static void begin(struct transfer from) {
    struct coroutine *coroutine = from.data;
    coroutine->other = from.from;
#if defined(__SANITIZE_ADDRESS__)
    const void *bottom;
    size_t size;
    __sanitizer_finish_switch_fiber(NULL, &bottom, &size);
    coroutine->outside_stack = bottom;
    coroutine->outside_size = size;
#endif
    coroutine->function(coroutine, coroutine->argument);
    coroutine_yield(coroutine, -1);
}

static struct coroutine *map(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t mapped = page + COROUTINE_STACK_BYTES + page;
    char *stack = mmap(NULL, mapped, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return NULL;
    if (mprotect(stack + page, mapped - page, PROT_READ | PROT_WRITE) != 0) {
        munmap(stack, mapped);
        return NULL;
    }
    struct coroutine *coroutine = (void *)(stack + page + COROUTINE_STACK_BYTES);
    coroutine->stack = stack;
    coroutine->mapped = mapped;
    return coroutine;
}

struct coroutine *coroutine_new(struct coroutine_pool *pool, coroutine_function *function,
                                void *argument) {
    struct coroutine *coroutine = pool->spare;
    if (coroutine != NULL) {
        pool->spare = coroutine->next_spare;
        pool->spare_count--;
    } else if ((coroutine = map()) == NULL) {
        return NULL;
    }
    coroutine->function = function;
    coroutine->argument = argument;
    coroutine->other = make_fcontext(coroutine, COROUTINE_STACK_BYTES, begin);
#if defined(__SANITIZE_THREAD__)
    coroutine->fiber = __tsan_create_fiber(0);
#endif
    return coroutine;
}

int coroutine_resume(struct coroutine *coroutine) {
    switch_over(coroutine, true);
    return coroutine->given;
}

void coroutine_yield(struct coroutine *self, int with) {
    self->given = with;
    switch_over(self, false);
}

void coroutine_free(struct coroutine_pool *pool, struct coroutine *coroutine) {
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(coroutine->fiber);
#endif
    if (pool->spare_count == SPARE_LIMIT) {
        munmap(coroutine->stack, coroutine->mapped);
        return;
    }
    coroutine->next_spare = pool->spare;
    pool->spare = coroutine;
    pool->spare_count++;
}

void coroutine_pool_close(struct coroutine_pool *pool) {
    for (struct coroutine *spare; (spare = pool->spare) != NULL;) {
        pool->spare = spare->next_spare;
        munmap(spare->stack, spare->mapped);
    }
    pool->spare_count = 0;
}

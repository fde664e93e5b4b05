#include "designs/designs.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
const struct design *const designs[] = {
    &design_iterative,
    &design_fork_per_client,
    &design_prefork_accept,
    &design_prefork_flock,
    &design_prefork_mutex,
    &design_prefork_fdpass,
    &design_thread_per_client,
    &design_prethread_mutex,
    &design_prethread_queue,
    &design_select,
    &design_poll,
    &design_epoll,
    &design_epoll_edge,
    &design_epoll_workers,
    &design_reactors,
    &design_uring,
    &design_uring_reactors,
    NULL,
};
/* clang-format on */

const struct design *design_find(const char *name) {
    for (const struct design *const *design = designs; *design != NULL; design++)
        if (strcmp((*design)->name, name) == 0)
            return *design;
    return NULL;
}

const char *design_missing(const struct design *design) {
    return design->missing != NULL ? design->missing() : NULL;
}

const char *design_serves(const struct design *design) {
    if (!design->one_at_a_time)
        return "all";
    return design->workers != NO_POOL ? "workers" : "one";
}

/* prefork-epoll: one epoll loop per process, one listener that all share.
 *
 * Each worker is a process that runs the loop of `epoll`. All watch the same listener; of those
 * that wait, the kernel wakes one (EPOLLEXCLUSIVE): the one that began to watch the listener first.
 * With few clients at a time it takes nearly all of them, and the others serve little. What a
 * worker does, and what kills it, concerns no other. */
#include "server/design.h"
#include "server/loops/reactor.h"
#include "server/workers/processes.h"

static void serve(struct server *server, void *argument) {
    (void)argument;
    struct output_budget own = {.limit = server->budget->limit / server->options->workers};
    struct reactor reactor = reactor_of(server);
    server->budget = &own; /* all together have no more than the limit */
    epoll_run(&reactor);
}

static int run(struct server *server) {
    return processes_run(server, serve, NULL);
}

const struct design design_prefork_epoll = {
    .name = "prefork-epoll",
    .summary = "one epoll loop per process, one listener that all share",
    .workers = ONE_PER_CPU,
    .run = run,
};

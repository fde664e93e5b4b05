/* reactors: one epoll loop per worker, SO_REUSEPORT.
 *
 * Each worker is a thread that runs the loop of `epoll` on its own listener; the kernel hashes each
 * new connection to one of them. The workers share nothing while they serve, so the design scales
 * with the CPUs; but load is not balanced: a client stays with its worker, however busy that is. */
#include "server/design.h"
#include "server/loops/reactor.h"
#include "server/loops/reactor_threads.h"

static int run_one(struct server *server, struct opening *opening) {
    struct reactor reactor = reactor_of(server);
    reactor.loop.opening = opening;
    return epoll_run(&reactor);
}

static int run(struct server *server) {
    return reactor_threads_run(server, run_one);
}

const struct design design_reactors = {
    .name = "reactors",
    .summary = "one epoll loop per worker, SO_REUSEPORT",
    .workers = ONE_PER_CPU,
    .shares_port = true,
    .run = run,
};

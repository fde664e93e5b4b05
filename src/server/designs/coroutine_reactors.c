/* coroutine-reactors: the loop of `coroutines` in each worker, SO_REUSEPORT.
 *
 * As `reactors`: each worker is a thread with a listener of its own, and a client stays with its
 * worker. Coroutines never move to another thread. */
#include "server/design.h"
#include "server/loops/coroutine.h"
#include "server/loops/reactor_threads.h"

static int run(struct server *server) {
    return reactor_threads_run(server, coroutines_run);
}

const struct design design_coroutine_reactors = {
    .name = "coroutine-reactors",
    .summary = "a coroutine per connection, one epoll loop per worker, SO_REUSEPORT",
    .workers = ONE_PER_CPU,
    .shares_port = true,
    .missing = coroutine_missing,
    .run = run,
};

/* epoll-edge: one event loop on epoll, edge-triggered.
 *
 * Like epoll, but the kernel reports changes of state, not states. A registration is never
 * modified, even if a client reads slowly; in return some events are of no use, and readiness must
 * be remembered (can_read) until a read comes back short.
 *
 * The listener stays level-triggered: more clients may be waiting than one turn accepts. */
#include "server/design.h"
#include "server/loops/reactor.h"

static int run(struct server *server) {
    struct reactor reactor = reactor_of(server);
    reactor_trigger_on_edges(&reactor);
    return epoll_run(&reactor);
}

const struct design design_epoll_edge = {
    .name = "epoll-edge",
    .summary = "one event loop on epoll, edge-triggered",
    .run = run,
};

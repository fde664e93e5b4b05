/* epoll-edge: one event loop on epoll, edge-triggered.
 *
 * As epoll, but the kernel tells what changes, not how things are: it is never told anew what to
 * watch for, when a client takes its replies slowly and when it is done. In return there is an
 * event for each change that nobody waited for; and what was told once must be remembered
 * (can_read) until a read comes back short.
 *
 * The listener is level-triggered here too: more may wait to be accepted than one turn takes. */
#include "designs/reactor.h"
#include "server/design.h"

static int run(struct server *server) {
    struct reactor reactor = reactor_of(server, &epoll_poller);
    reactor.is_edge_triggered = true;
    return reactor_run(&reactor);
}

const struct design design_epoll_edge = {
    .name = "epoll-edge",
    .summary = "one event loop on epoll, edge-triggered",
    .run = run,
};

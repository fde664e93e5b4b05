/* reactors-steered: thread per core; a client is served on the CPU that its packets come to.
 *
 * As `reactors`, but each worker stays on a CPU of its own, and instead of a hash a BPF program
 * chooses the listener: that of the CPU which received the client's first packet. Where the network
 * card spreads connections over the CPUs (RSS, RPS), a connection never leaves its CPU's caches;
 * where all packets come to one CPU, so does all the work. */
#include "server/design.h"
#include "server/loops/reactor.h"
#include "server/loops/reactor_threads.h"
#include "server/steering.h"

#include <errno.h>

/* Keeps this thread on its CPU. */
static int pin(struct reactor *reactor, int epoll_fd) {
    const struct server *server = reactor->loop.server;
    cpu_set_t own;
    (void)epoll_fd;
    CPU_ZERO(&own);
    CPU_SET(steering_cpu(server->prepared, server_worker(server)), &own);
    return sched_setaffinity(0, sizeof own, &own) == 0 ? 0 : -errno;
}

static int run_one(struct server *server, struct opening *opening) {
    struct reactor reactor = reactor_of(server);
    reactor.prepare = pin;
    reactor.loop.opening = opening;
    return epoll_run(&reactor);
}

/* An inherited listener is one for all workers: there is nothing to choose. */
static int run(struct server *server) {
    cpu_set_t cpus;
    int error = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? 0 : -errno;
    if (error == 0 && !server->listener.is_inherited)
        error = steering_attach(server->listener.drain_fd, &cpus, server->options->workers);
    server->prepared = &cpus;
    if (error == 0)
        error = reactor_threads_run(server, run_one);
    server->prepared = NULL;
    return error;
}

const struct design design_reactors_steered = {
    .name = "reactors-steered",
    .summary = "thread per core: a client is served on the CPU that its packets come to",
    .workers = ONE_PER_CPU,
    .shares_port = true,
    .run = run,
};

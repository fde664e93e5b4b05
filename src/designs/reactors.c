/* reactors: one epoll loop per worker, SO_REUSEPORT.
 *
 * Each worker is a thread that runs the whole of the design `epoll` on a listener of its own; the
 * kernel hashes each new client to one of the listeners. Nothing is shared while serving, so it
 * scales with the CPUs; and nothing is evened out: a client stays with its worker, however busy
 * that one is. */
#include "designs/reactors.h"

#include "designs/reactor.h"
#include "server/design.h"
#include "server/threads.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct reactors {
    pthread_barrier_t opening;
    struct server *own; /* of each worker */
    int (*run)(struct server *server, pthread_barrier_t *opening);
    _Atomic int error; /* the first */
};

/* The first error ends them all. */
static void note(struct reactors *reactors, int error) {
    int none = 0;
    if (error != 0 && atomic_compare_exchange_strong(&reactors->error, &none, error))
        kill(getpid(), SIGTERM);
}

static void react(void *argument, unsigned worker) {
    struct reactors *reactors = argument;
    note(reactors, reactors->run(&reactors->own[worker], &reactors->opening));
}

/* The first worker has the listener that the server was started with. */
static void give_listeners(struct reactors *reactors, const struct server *server) {
    for (unsigned worker = 0; worker < server->options->workers; worker++) {
        struct server *own = &reactors->own[worker];
        *own = server_for_worker(server, worker);
        if (worker > 0)
            own->listener = server->other_listeners[worker - 1];
    }
}

int reactors_run(struct server *server,
                 int (*run)(struct server *server, pthread_barrier_t *opening)) {
    struct reactors reactors = {.run = run};
    struct threads threads;
    reactors.own = calloc(server->options->workers, sizeof *reactors.own);
    if (reactors.own == NULL)
        return -ENOMEM;
    pthread_barrier_init(&reactors.opening, NULL, server->options->workers);
    give_listeners(&reactors, server);
    reactors.error = threads_start(&threads, server->options->workers, react, &reactors);
    if (reactors.error == 0) {
        note(&reactors, ready_say(server));
        threads_join(&threads);
    }
    for (unsigned worker = 1; worker < server->options->workers; worker++)
        listener_close(&reactors.own[worker].listener);
    pthread_barrier_destroy(&reactors.opening);
    free(reactors.own);
    return reactors.error;
}

static int run_one(struct server *server, pthread_barrier_t *opening) {
    struct reactor reactor = reactor_of(server, &epoll_poller);
    reactor.loop.opening = opening;
    return reactor_run(&reactor);
}

static int run(struct server *server) {
    return reactors_run(server, run_one);
}

const struct design design_reactors = {
    .name = "reactors",
    .summary = "one epoll loop per worker, SO_REUSEPORT",
    .workers = ONE_PER_CPU,
    .shares_port = true,
    .run = run,
};

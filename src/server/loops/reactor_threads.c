#include "server/loops/reactor_threads.h"

#include "server/loops/loop.h"
#include "server/server.h"
#include "server/threads.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

struct reactors {
    struct opening opening;
    struct server *servers; /* one per worker */
    int (*run)(struct server *server, struct opening *opening);
    _Atomic int error; /* the first */
};

/* The first error stops all of them. */
static void note(struct reactors *reactors, int error) {
    int none = 0;
    if (error != 0 && atomic_compare_exchange_strong(&reactors->error, &none, error))
        kill(getpid(), SIGTERM);
}

static void react(void *argument, unsigned worker) {
    struct reactors *reactors = argument;
    note(reactors, reactors->run(&reactors->servers[worker], &reactors->opening));
}

int reactor_threads_run(struct server *server,
                        int (*run)(struct server *server, struct opening *opening)) {
    struct reactors reactors = {.servers = servers_for_workers(server), .run = run};
    struct threads threads;
    if (reactors.servers == NULL)
        return -ENOMEM;
    pthread_barrier_init(&reactors.opening.all, NULL, server->options->workers + 1);
    reactors.error = threads_start(&threads, server->options->workers, react, &reactors);
    if (reactors.error == 0) {
        pthread_barrier_wait(&reactors.opening.all);
        if (reactors.opening.error == 0)
            note(&reactors, ready_say(server));
        threads_join(&threads);
    }
    for (unsigned worker = 1; worker < server->options->workers; worker++)
        listener_close(&reactors.servers[worker].listener);
    pthread_barrier_destroy(&reactors.opening.all);
    free(reactors.servers);
    return reactors.error;
}

/* prefork-accept: a pool of processes, all blocked in accept.
 *
 * Each worker is an iterative server on the same listening socket, and the kernel wakes one for
 * each client. No client waits for a fork, and as many are served at a time as there are workers;
 * one more waits until another has left. */
#include "server/design.h"
#include "server/processes.h"
#include "workers/converse.h"

static void serve(struct server *server, void *argument) {
    (void)argument;
    int fd;
    while ((fd = listener_accept(server)) >= 0)
        converse_alone(server, fd);
}

static int run(struct server *server) {
    return processes_run(server, serve, NULL);
}

const struct design design_prefork_accept = {
    .name = "prefork-accept",
    .summary = "a pool of processes, all blocked in accept",
    .workers = POOL_WORKERS,
    .one_at_a_time = true,
    .run = run,
};

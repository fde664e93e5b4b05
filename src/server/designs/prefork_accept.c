/* prefork-accept: a pool of processes, all blocked in accept.
 *
 * Each worker is an iterative server on the same listening socket, and the kernel wakes one worker
 * per client. No client waits for a fork. As many clients are served at the same time as there are
 * workers; others wait until one has left. */
#include "server/connection/accept.h"
#include "server/design.h"
#include "server/workers/processes.h"
#include "server/workers/serve_client.h"

static void serve(struct server *server, void *argument) {
    (void)argument;
    int fd;
    while ((fd = listener_accept(server)) >= 0)
        serve_client(server, fd);
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

/* iterative: one process, one client at a time.
 *
 * Accept, serve that client to the end, accept the next. No context switch, no lock, no table: the
 * least a server can do. A slow or idle client blocks all others. */
#include "server/connection/accept.h"
#include "server/design.h"
#include "server/stop.h"
#include "server/workers/serve_client.h"

/* In the signal handler: nothing else runs while a client is served. */
static void stop_listening(void *listener) {
    listener_begin_draining(listener);
}

static int run(struct server *server) {
    int fd;
    stop_calls(stop_listening, &server->listener);
    while ((fd = listener_accept(server)) >= 0)
        serve_client(server, fd);
    return 0;
}

const struct design design_iterative = {
    .name = "iterative",
    .summary = "one process, one client at a time",
    .one_at_a_time = true,
    .run = run,
};

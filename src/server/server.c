#include "server/server.h"

#include <stdlib.h>

struct server *servers_for_workers(const struct server *server) {
    struct server *servers = calloc(server->options->workers, sizeof *servers);
    for (unsigned worker = 0; servers != NULL && worker < server->options->workers; worker++) {
        servers[worker] = server_for_worker(server, worker);
        if (worker > 0 && server->other_listeners != NULL)
            servers[worker].listener = server->other_listeners[worker - 1];
    }
    return servers;
}

#include "server/server.h"

#include <stdlib.h>

struct server *servers_for_workers(const struct server *server) {
    struct server *own = calloc(server->options->workers, sizeof *own);
    for (unsigned worker = 0; own != NULL && worker < server->options->workers; worker++)
        own[worker] = server_for_worker(server, worker);
    return own;
}

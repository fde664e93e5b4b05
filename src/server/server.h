/* What a design is given: a listener, the service, and the counts. */
#pragma once
#include "server/accept.h"
#include "server/listener.h"
#include "server/options.h"
#include "server/ready.h"
#include "server/stats.h"
#include "service/service.h"

struct log;

struct server {
    const struct options *options;
    struct listener listener;
    struct listener
        *other_listeners; /* of all workers but the first, where each has its own; else NULL */
    struct service *service;
    struct stats *stats;
    struct log *log;             /* NULL: not --verbose */
    struct worker_stats *counts; /* of the worker whose struct this is */
    struct ready ready;
};

/* The same server as one of the workers of a pool has it, 0 <= worker < options->workers: a copy,
 * whose listener is the worker's own where it opens one. */
static inline struct server server_for_worker(const struct server *server, unsigned worker) {
    struct server own = *server;
    own.counts = &server->stats->workers[worker];
    return own;
}

/* Those of all workers, made before the first thread runs: later the server may be changing. The
 * caller frees them. NULL if there is no memory. */
struct server *servers_for_workers(const struct server *server);

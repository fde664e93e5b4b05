/* What a design is given: a listener, the service, and the counts. */
#pragma once
#include "server/listener.h"
#include "server/options.h"
#include "server/stats.h"
#include "service/service.h"

struct server {
    const struct options *options;
    struct listener listener;
    struct service *service;
    struct stats *stats;
    struct worker_stats *counts; /* of the worker whose struct this is */
};

/* The same server as one of the workers of a pool has it, 0 <= worker < options->workers: a copy,
 * whose listener is the worker's own where it opens one. */
static inline struct server server_for_worker(const struct server *server, unsigned worker) {
    struct server own = *server;
    own.counts = &server->stats->workers[worker];
    return own;
}

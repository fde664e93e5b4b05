/* What a design is given: a listener, the service, and the counts. */
#pragma once
#include "server/accept.h"
#include "server/guesses.h"
#include "server/listener.h"
#include "server/options.h"
#include "server/ready.h"
#include "server/stats.h"
#include "service/service.h"

struct log;

struct server {
    const struct options *options;
    struct listener listener;
    struct listener *other_listeners; /* of all workers but the first (shares_port); else NULL */
    struct service *service;
    struct stats *stats;
    struct guesses *guesses;      /* NULL: clients need no token */
    struct log *log;              /* NULL: not --verbose */
    struct worker_stats *counts;  /* of this worker */
    struct output_budget *budget; /* of all replies that wait */
    void *prepared;               /* by the design, for each worker (design.h); NULL: nothing */
    struct ready ready;
};

/* A copy for one worker of a pool, 0 <= worker < options->workers. */
static inline struct server server_for_worker(const struct server *server, unsigned worker) {
    struct server copy = *server;
    copy.counts = &server->stats->workers[worker];
    return copy;
}

/* The number of the worker that a copy is for. */
static inline unsigned server_worker(const struct server *server) {
    return (unsigned)(server->counts - server->stats->workers);
}

/* Copies for all workers, each with its own listener if it has one. Made before the first thread
 * runs: later the server may change. The caller frees them. NULL if there is no memory. */
struct server *servers_for_workers(const struct server *server);

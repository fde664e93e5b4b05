/* The server as a design sees it: listener, service, counters. */
#pragma once
#include "server/guesses.h"
#include "server/listener.h"
#include "server/options.h"
#include "server/output_shares.h"
#include "server/ready.h"
#include "server/stats.h"
#include "service/service.h"

struct log;

struct server {
    const struct options *options;
    struct listener listener;
    struct listener *other_listeners; /* for all workers but the first (shares_port); else NULL */
    struct service *service;
    struct stats *stats;
    struct guesses *guesses;      /* NULL: clients need no token */
    struct log *log;              /* NULL: not --verbose */
    struct worker_stats *counts;  /* of this worker */
    struct output_budget *budget; /* of all pending replies of a process */
    struct output_shares shares;  /* ... of several processes together */
    void *prepared;               /* by design.prepare, for each worker; NULL: nothing */
    struct ready ready;
};

/* A copy for one worker of a pool; 0 <= worker < options->workers. */
static inline struct server server_for_worker(const struct server *server, unsigned worker) {
    struct server copy = *server;
    copy.counts = &server->stats->workers[worker];
    return copy;
}

/* The worker that a copy is for. */
static inline unsigned server_worker(const struct server *server) {
    return (unsigned)(server->counts - server->stats->workers);
}

/* Copies for all workers, each with its own listener if it has one. To be made before the first
 * thread runs, as the server may change later. The caller frees them. NULL: out of memory. */
struct server *servers_for_workers(const struct server *server);

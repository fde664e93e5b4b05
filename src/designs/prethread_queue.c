/* prethread-queue: the main thread accepts, a pool serves from a queue.
 *
 * The main thread puts each client into a queue; a thread of the pool takes it and serves it to the
 * end. As many clients are served at a time as there are threads; others wait in the queue, up to
 * --max-connections in all, and more are refused. A client costs a lock on either side of the queue
 * and mostly a context switch to the thread that it wakes. */
#include "server/design.h"
#include "workers/thread_clients.h"

#include <errno.h>
#include <stdlib.h>

struct pool {
    struct server *server;
    struct server *servers;        /* of each thread */
    struct thread_clients clients; /* those being served */
    struct threads threads;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t has_clients;
    int *queue;              /* a ring of --max-connections */
    unsigned first, waiting; /* in the queue */
    unsigned held;           /* ... and those being served */
    bool is_over;            /* no client will be added */
};

/* Returns false if there are --max-connections. */
static bool add(struct pool *pool, int fd) {
    unsigned limit = pool->server->options->max_connections;
    pthread_mutex_lock(&pool->lock);
    bool has_room = pool->held < limit;
    if (has_room) {
        pool->queue[(pool->first + pool->waiting) % limit] = fd;
        pool->waiting++;
        pool->held++;
        stats_add(&pool->server->stats->open); /* before a worker can take it from there */
    }
    pthread_mutex_unlock(&pool->lock);
    if (has_room)
        pthread_cond_signal(&pool->has_clients);
    return has_room;
}

/* Returns the next client's descriptor; -1: there will be no more. */
static int take(struct pool *pool) {
    int fd = -1;
    pthread_mutex_lock(&pool->lock);
    while (pool->waiting == 0 && !pool->is_over)
        pthread_cond_wait(&pool->has_clients, &pool->lock);
    if (pool->waiting > 0) {
        fd = pool->queue[pool->first];
        pool->first = (pool->first + 1) % pool->server->options->max_connections;
        pool->waiting--;
    }
    pthread_mutex_unlock(&pool->lock);
    return fd;
}

static void make_room(struct pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->held--;
    pthread_mutex_unlock(&pool->lock);
}

static void end(struct pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->is_over = true;
    pthread_mutex_unlock(&pool->lock);
    pthread_cond_broadcast(&pool->has_clients);
}

static void serve(void *argument, unsigned worker) {
    struct pool *pool = argument;
    struct server *server = &pool->servers[worker];
    struct thread_client member;
    while ((member.fd = take(pool)) >= 0) {
        stats_subtract(&server->stats->open); /* counted by this worker from here on */
        thread_clients_enter(&pool->clients, &member, server->options->workers);
        thread_clients_converse(&pool->clients, &member, server);
        make_room(pool);
    }
}

static void accept_all(struct pool *pool) {
    int fd;
    while ((fd = listener_accept(pool->server)) >= 0)
        if (!add(pool, fd))
            listener_refuse(pool->server, fd);
}

static int run(struct server *server) {
    struct pool pool = {.server = server,
                        .clients = THREAD_CLIENTS_INITIALIZER,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .has_clients = PTHREAD_COND_INITIALIZER};
    pool.queue = calloc(server->options->max_connections, sizeof *pool.queue);
    pool.servers = servers_for_workers(server);
    int error = pool.queue == NULL || pool.servers == NULL ? -ENOMEM : 0;
    if (error == 0)
        error = threads_start(&pool.threads, server->options->workers, serve, &pool);
    if (error == 0) {
        error = ready_say(server);
        if (error == 0)
            accept_all(&pool);
        end(&pool);
        thread_clients_drain_pool(&pool.clients, &pool.threads);
    }
    free(pool.servers);
    free(pool.queue);
    return error;
}

const struct design design_prethread_queue = {
    .name = "prethread-queue",
    .summary = "the main thread accepts, a pool of threads serves from a queue",
    .workers = POOL_WORKERS,
    .one_at_a_time = true,
    .run = run,
};

/* prethread-queue: the main thread accepts, a pool serves from a queue.
 *
 * The main thread queues each client; a thread of the pool takes it and serves it to the end. As
 * many clients are served at the same time as there are threads; others wait in the queue, up to
 * --max-connections in all, and further ones are refused. Each client costs a lock on either side
 * of the queue and usually a context switch to the thread that is woken. */
#include "server/connection/accept.h"
#include "server/design.h"
#include "server/workers/thread_clients.h"

#include <errno.h>
#include <stdlib.h>

struct pool {
    struct server *server;
    struct server *servers;        /* one per thread */
    struct thread_clients clients; /* being served */
    struct threads threads;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t has_clients;
    int *queue;              /* ring of --max-connections descriptors */
    unsigned first, waiting; /* index of the first; number in the queue */
    unsigned connected;      /* in the queue or being served */
    bool is_closed;          /* no client will be added */
};

/* Returns false if there are --max-connections already. */
static bool add(struct pool *pool, int fd) {
    unsigned limit = pool->server->options->max_connections;
    pthread_mutex_lock(&pool->lock);
    bool has_room = pool->connected < limit;
    if (has_room) {
        pool->queue[(pool->first + pool->waiting) % limit] = fd;
        pool->waiting++;
        pool->connected++;
        stats_add(&pool->server->stats->open); /* before a worker can subtract it */
    }
    pthread_mutex_unlock(&pool->lock);
    if (has_room)
        pthread_cond_signal(&pool->has_clients);
    return has_room;
}

/* Returns the next client's descriptor; -1: the queue is closed and empty. */
static int take(struct pool *pool) {
    int fd = -1;
    pthread_mutex_lock(&pool->lock);
    while (pool->waiting == 0 && !pool->is_closed)
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
    pool->connected--;
    pthread_mutex_unlock(&pool->lock);
}

static void close_queue(struct pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->is_closed = true;
    pthread_mutex_unlock(&pool->lock);
    pthread_cond_broadcast(&pool->has_clients);
}

static void serve(void *argument, unsigned worker) {
    struct pool *pool = argument;
    struct server *server = &pool->servers[worker];
    struct thread_client member;
    while ((member.fd = take(pool)) >= 0) {
        stats_subtract(&server->stats->open); /* this worker counts it from here on */
        thread_clients_enter(&pool->clients, &member, server->options->workers);
        thread_clients_serve(&pool->clients, &member, server);
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
        close_queue(&pool);
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

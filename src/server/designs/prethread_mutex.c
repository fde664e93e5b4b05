/* prethread-mutex: a pool of threads, accept behind a mutex.
 *
 * Each thread is an iterative server: one is blocked in accept, the other free ones wait for the
 * mutex around it. No client waits for a thread to be created. As many clients are served at the
 * same time as there are threads; others wait until one has left. Each client costs a mutex
 * operation, which usually has to wake the next owner. */
#include "base/backoff.h"
#include "server/connection/accept.h"
#include "server/design.h"
#include "server/stop.h"
#include "server/workers/thread_clients.h"

#include <errno.h>
#include <stdlib.h>

struct pool {
    struct server *server;
    struct server *servers; /* one per thread */
    pthread_mutex_t mutex;  /* around accept; guards server->listener */
    struct thread_clients clients;
    struct threads threads;
};

static int accept_with_mutex(struct pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    int fd = listener_accept(pool->server);
    pthread_mutex_unlock(&pool->mutex);
    return fd;
}

static void serve(void *argument, unsigned worker) {
    struct pool *pool = argument;
    struct server *server = &pool->servers[worker];
    struct thread_client member;
    while ((member.fd = accept_with_mutex(pool)) >= 0) {
        thread_clients_enter(&pool->clients, &member, server->options->workers);
        thread_clients_serve(&pool->clients, &member, server);
    }
}

/* The main thread gets the signal. The handler has replaced the listener (stop.h), so only a thread
 * that is already blocked in accept must be woken. */
static void wait_for_stop(void) {
    struct pollfd stop = {.fd = stop_fd(), .events = POLLIN};
    while (!stop_is_requested())
        poll_or_back_off(&stop, 1, -1);
}

static int serve_until_stopped(struct pool *pool) {
    int error = ready_say(pool->server);
    if (error == 0)
        wait_for_stop();
    else
        raise(SIGTERM);
    listener_begin_draining(&pool->server->listener); /* all threads may be busy */
    threads_wake(&pool->threads);
    thread_clients_drain_pool(&pool->clients, &pool->threads);
    return error;
}

static int run(struct server *server) {
    struct pool pool = {.server = server,
                        .mutex = PTHREAD_MUTEX_INITIALIZER,
                        .clients = THREAD_CLIENTS_INITIALIZER};
    pool.servers = servers_for_workers(server);
    int error = pool.servers == NULL ? -ENOMEM : 0;
    if (error == 0)
        error = threads_start(&pool.threads, server->options->workers, serve, &pool);
    if (error == 0)
        error = serve_until_stopped(&pool);
    free(pool.servers);
    return error;
}

const struct design design_prethread_mutex = {
    .name = "prethread-mutex",
    .summary = "a pool of threads, accept behind a mutex",
    .workers = POOL_WORKERS,
    .one_at_a_time = true,
    .run = run,
};

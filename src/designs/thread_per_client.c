/* thread-per-client: a new thread for each connection.
 *
 * The main thread accepts and starts a thread, which serves its client with blocking calls to the
 * end. A slow client holds up nobody. Each connection costs a thread: its creation (about 30 us of
 * CPU), a few page faults of its stack, and a context switch to it. */
#include "base/limits.h"
#include "designs/converse.h"
#include "designs/design.h"
#include "server/hang_up.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

enum {
    STACK_BYTES =
        256 * 1024, /* a reply and a scan need about 80 KiB; untouched pages cost nothing */
};

struct client {
    struct pool *pool;
    int fd;
    struct client *previous, *next;
};

struct pool {
    struct server *server;
    pthread_attr_t attributes;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t is_empty;
    struct client *clients;
    unsigned count;
};

static void enter(struct pool *pool, struct client *client) {
    pthread_mutex_lock(&pool->lock);
    client->previous = NULL;
    client->next = pool->clients;
    if (client->next != NULL)
        client->next->previous = client;
    pool->clients = client;
    pool->count++;
    pthread_mutex_unlock(&pool->lock);
}

static void leave(struct pool *pool, struct client *client) {
    pthread_mutex_lock(&pool->lock);
    if (client->previous != NULL)
        client->previous->next = client->next;
    else
        pool->clients = client->next;
    if (client->next != NULL)
        client->next->previous = client->previous;
    if (--pool->count == 0)
        pthread_cond_signal(&pool->is_empty);
    pthread_mutex_unlock(&pool->lock);
}

static unsigned count(struct pool *pool) {
    pthread_mutex_lock(&pool->lock);
    unsigned count = pool->count;
    pthread_mutex_unlock(&pool->lock);
    return count;
}

static void *serve(void *argument) {
    struct client *client = argument;
    bool is_refused = converse(client->pool->server, client->fd);
    leave(client->pool, client); /* before closing: drain must not shut a number used again */
    hang_up(client->fd, is_refused);
    free(client);
    return NULL;
}

static void start(struct pool *pool, int fd) {
    pthread_t thread;
    struct client *client = malloc(sizeof *client);
    if (client == NULL || count(pool) >= pool->server->options->max_connections) {
        free(client);
        listener_refuse(pool->server, fd);
        return;
    }
    *client = (struct client){.pool = pool, .fd = fd};
    enter(pool, client);
    if (pthread_create(&thread, &pool->attributes, serve, client) != 0) {
        leave(pool, client);
        free(client);
        listener_refuse(pool->server, fd);
    }
}

/* Called with the lock held. */
static void shut(const struct pool *pool, int how) {
    for (const struct client *client = pool->clients; client != NULL; client = client->next)
        shutdown(client->fd, how);
}

/* Ends reading on every connection, so that each thread answers what has come and returns. A client
 * that does not take its replies is cut off after DRAIN_LIMIT_MS. */
static void drain(struct pool *pool) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += DRAIN_LIMIT_MS / 1000;
    pthread_mutex_lock(&pool->lock);
    shut(pool, SHUT_RD);
    while (pool->count > 0 &&
           pthread_cond_timedwait(&pool->is_empty, &pool->lock, &limit) != ETIMEDOUT)
        continue;
    shut(pool, SHUT_RDWR);
    while (pool->count > 0)
        pthread_cond_wait(&pool->is_empty, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

/* Threads are detached: nobody waits for one. Signals are the main thread's, which waits in accept
 * for them. */
static void prepare(struct pool *pool) {
    sigset_t all;
    sigfillset(&all);
    pthread_attr_init(&pool->attributes);
    pthread_attr_setdetachstate(&pool->attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&pool->attributes, STACK_BYTES);
    pthread_attr_setsigmask_np(&pool->attributes, &all);
}

static int run(struct server *server) {
    static struct pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
                               .is_empty = PTHREAD_COND_INITIALIZER};
    pool.server = server;
    prepare(&pool);
    int fd;
    while ((fd = listener_accept(server)) >= 0)
        start(&pool, fd);
    drain(&pool);
    return 0;
}

const struct design design_thread_per_client = {
    .name = "thread-per-client",
    .summary = "a new thread for each connection",
    .run = run,
};

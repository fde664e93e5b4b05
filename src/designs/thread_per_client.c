/* thread-per-client: a new thread for each connection.
 *
 * The main thread accepts and starts a thread, which serves its client with blocking calls to the
 * end. A slow client holds up nobody. Each connection costs a thread: its creation (about 30 us of
 * CPU), a few page faults of its stack, and a context switch to it. */
#include "base/limits.h"
#include "designs/converse.h"
#include "designs/design.h"
#include "server/hang_up.h"
#include "server/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

struct client {
    struct crowd *crowd;
    int fd;
    struct client *previous, *next;
};

struct crowd {
    struct server *server;
    pthread_attr_t attributes;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t is_empty;
    struct client *clients;
    unsigned count;
};

static void enter(struct crowd *crowd, struct client *client) {
    pthread_mutex_lock(&crowd->lock);
    client->previous = NULL;
    client->next = crowd->clients;
    if (client->next != NULL)
        client->next->previous = client;
    crowd->clients = client;
    crowd->count++;
    pthread_mutex_unlock(&crowd->lock);
}

static void leave(struct crowd *crowd, struct client *client) {
    pthread_mutex_lock(&crowd->lock);
    if (client->previous != NULL)
        client->previous->next = client->next;
    else
        crowd->clients = client->next;
    if (client->next != NULL)
        client->next->previous = client->previous;
    if (--crowd->count == 0)
        pthread_cond_signal(&crowd->is_empty);
    pthread_mutex_unlock(&crowd->lock);
}

static unsigned count(struct crowd *crowd) {
    pthread_mutex_lock(&crowd->lock);
    unsigned count = crowd->count;
    pthread_mutex_unlock(&crowd->lock);
    return count;
}

static void *serve(void *argument) {
    struct client *client = argument;
    bool is_refused = converse(client->crowd->server, client->fd);
    leave(client->crowd, client); /* before closing: drain must not shut a number used again */
    hang_up(client->fd, is_refused);
    free(client);
    return NULL;
}

static void start(struct crowd *crowd, int fd) {
    pthread_t thread;
    struct client *client = malloc(sizeof *client);
    if (client == NULL || count(crowd) >= crowd->server->options->max_connections) {
        free(client);
        listener_refuse(crowd->server, fd);
        return;
    }
    *client = (struct client){.crowd = crowd, .fd = fd};
    enter(crowd, client);
    if (pthread_create(&thread, &crowd->attributes, serve, client) != 0) {
        leave(crowd, client);
        free(client);
        listener_refuse(crowd->server, fd);
    }
}

/* Called with the lock held. */
static void shut(const struct crowd *crowd, int how) {
    for (const struct client *client = crowd->clients; client != NULL; client = client->next)
        shutdown(client->fd, how);
}

/* Ends reading on every connection, so that each thread answers what has come and returns. A client
 * that does not take its replies is cut off after DRAIN_LIMIT_S. */
static void drain(struct crowd *crowd) {
    struct timespec limit;
    clock_gettime(CLOCK_MONOTONIC, &limit);
    limit.tv_sec += DRAIN_LIMIT_S;
    pthread_mutex_lock(&crowd->lock);
    shut(crowd, SHUT_RD);
    while (crowd->count > 0 && pthread_cond_clockwait(&crowd->is_empty, &crowd->lock,
                                                      CLOCK_MONOTONIC, &limit) != ETIMEDOUT)
        continue;
    shut(crowd, SHUT_RDWR);
    while (crowd->count > 0)
        pthread_cond_wait(&crowd->is_empty, &crowd->lock);
    pthread_mutex_unlock(&crowd->lock);
}

static int run(struct server *server) {
    static struct crowd crowd = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                 .is_empty = PTHREAD_COND_INITIALIZER};
    crowd.server = server;
    threads_attributes(&crowd.attributes);
    /* Nobody waits for one of them. */
    pthread_attr_setdetachstate(&crowd.attributes, PTHREAD_CREATE_DETACHED);
    int fd;
    while ((fd = listener_accept(server)) >= 0)
        start(&crowd, fd);
    drain(&crowd);
    pthread_attr_destroy(&crowd.attributes);
    return 0;
}

const struct design design_thread_per_client = {
    .name = "thread-per-client",
    .summary = "a new thread for each connection",
    .run = run,
};

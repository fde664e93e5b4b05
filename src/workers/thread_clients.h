/* The clients that threads are serving with blocking calls. A stop must interrupt those calls from
 * outside: end the reading after a while, and later cut off clients that do not read their replies.
 */
#pragma once
#include "server/server.h"
#include "server/threads.h"

#include <pthread.h>
#include <stdbool.h>

struct thread_client {
    int fd;
    struct thread_client *previous, *next;
};

struct thread_clients {
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t is_empty;
    struct thread_client *members;
    unsigned count;
    bool is_shut; /* reading has ended, also for clients that enter */
    bool is_cut;  /* ... and writing */
};

#define THREAD_CLIENTS_INITIALIZER                                                                 \
    { .lock = PTHREAD_MUTEX_INITIALIZER, .is_empty = PTHREAD_COND_INITIALIZER }

/* Returns false, and nothing happened, if there are `limit` already. The member must not move until
 * it leaves. */
bool thread_clients_enter(struct thread_clients *clients, struct thread_client *member,
                          unsigned limit);
void thread_clients_leave(struct thread_clients *clients, struct thread_client *member);

/* The member's whole conversation; it then leaves, and its descriptor is closed. */
void thread_clients_converse(struct thread_clients *clients, struct thread_client *member,
                             struct server *server);

/* The server stops: when the hearing is over (stop.h) it ends the reading on every connection, so
 * that each thread answers what has arrived, and at the drain limit it cuts off those that are not
 * done. Returns when all have left. */
void thread_clients_drain(struct thread_clients *clients);

/* The same for a pool, whose threads end when no client is left: returns when all have ended. */
void thread_clients_drain_pool(struct thread_clients *clients, struct threads *threads);

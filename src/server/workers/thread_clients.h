/* The clients that threads are serving with blocking calls. When the server stops, it interrupts
 * those calls from outside: after HEARING_S it ends the reading, and later it cuts off clients that
 * do not read their replies. */
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
    bool is_shut; /* reading has ended, also for clients that enter later */
    bool is_cut;  /* ... and writing */
};

#define THREAD_CLIENTS_INITIALIZER                                                                 \
    { .lock = PTHREAD_MUTEX_INITIALIZER, .is_empty = PTHREAD_COND_INITIALIZER }

/* Returns false, and changes nothing, if there are `limit` members already. The member must not
 * move until it leaves. */
bool thread_clients_enter(struct thread_clients *clients, struct thread_client *member,
                          unsigned limit);
void thread_clients_leave(struct thread_clients *clients, struct thread_client *member);

/* Serves the member to the end; it then leaves, and its descriptor is closed. */
void thread_clients_serve(struct thread_clients *clients, struct thread_client *member,
                          struct server *server);

/* Drains on a stop: after HEARING_S it ends the reading on every connection, so that each thread
 * answers what has arrived, and at the drain limit it cuts off the rest. Returns when all have
 * left. */
void thread_clients_drain(struct thread_clients *clients);

/* The same for a pool, whose threads return when no client is left: joins them. */
void thread_clients_drain_pool(struct thread_clients *clients, struct threads *threads);

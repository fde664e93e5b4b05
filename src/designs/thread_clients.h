/* The connections that threads serve at this moment, each with blocking calls: a stop must end
 * their reading, and cut off those that take nothing, from outside. */
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
    bool is_shut; /* nothing more is read, of those who are here and those who come */
    bool is_cut;  /* nothing is written either */
};

#define THREAD_CLIENTS_INITIALIZER                                                                 \
    { .lock = PTHREAD_MUTEX_INITIALIZER, .is_empty = PTHREAD_COND_INITIALIZER }

/* Returns false, and nothing happened, if there are `limit` already. The member must stay where it
 * is until it leaves. */
bool thread_clients_enter(struct thread_clients *clients, struct thread_client *member,
                          unsigned limit);
void thread_clients_leave(struct thread_clients *clients, struct thread_client *member);

/* The whole conversation of a member, which leaves. Closes its descriptor. */
void thread_clients_converse(struct thread_clients *clients, struct thread_client *member,
                             struct server *server);

/* The server stops: ends reading on every connection, so that each thread answers what has come and
 * is done with it, and cuts off those that are not done by the drain limit. Returns when all have
 * left. */
void thread_clients_drain(struct thread_clients *clients);

/* The same for a pool whose threads end when they find no client any longer: returns when all
 * threads have ended. */
void thread_clients_drain_pool(struct thread_clients *clients, struct threads *threads);

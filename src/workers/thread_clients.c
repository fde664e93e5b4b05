#include "workers/thread_clients.h"

#include "base/clock.h"
#include "server/close_connection.h"
#include "server/log.h"
#include "server/stop.h"
#include "workers/converse.h"

#include <errno.h>
#include <sys/socket.h>
#include <time.h>

static void link_in(struct thread_clients *clients, struct thread_client *member) {
    member->previous = NULL;
    member->next = clients->members;
    if (member->next != NULL)
        member->next->previous = member;
    clients->members = member;
    clients->count++;
}

bool thread_clients_enter(struct thread_clients *clients, struct thread_client *member,
                          unsigned limit) {
    pthread_mutex_lock(&clients->lock);
    bool has_room = clients->count < limit;
    if (has_room)
        link_in(clients, member);
    if (has_room && clients->is_shut)
        shutdown(member->fd, clients->is_cut ? SHUT_RDWR : SHUT_RD);
    pthread_mutex_unlock(&clients->lock);
    return has_room;
}

void thread_clients_leave(struct thread_clients *clients, struct thread_client *member) {
    pthread_mutex_lock(&clients->lock);
    if (member->previous != NULL)
        member->previous->next = member->next;
    else
        clients->members = member->next;
    if (member->next != NULL)
        member->next->previous = member->previous;
    if (--clients->count == 0)
        pthread_cond_signal(&clients->is_empty);
    pthread_mutex_unlock(&clients->lock);
}

void thread_clients_converse(struct thread_clients *clients, struct thread_client *member,
                             struct server *server) {
    int fd = member->fd;
    stats_add(&server->counts->open);
    bool is_refused = converse(server, fd);
    stats_subtract(&server->counts->open);
    log_end(server, fd);
    /* Before closing: nobody may shut down a descriptor that is in use again. From here on the
     * server may be gone. */
    thread_clients_leave(clients, member);
    close_connection(fd, is_refused);
}

static struct timespec end_in(int left_ms) {
    int64_t end_ns = clock_monotonic_ns() + left_ms * (int64_t)NS_PER_MS;
    return (struct timespec){.tv_sec = end_ns / NS_PER_S, .tv_nsec = end_ns % NS_PER_S};
}

static void shut(struct thread_clients *clients, int how) {
    pthread_mutex_lock(&clients->lock);
    clients->is_shut = true;
    clients->is_cut = how == SHUT_RDWR;
    for (const struct thread_client *member = clients->members; member != NULL;
         member = member->next)
        shutdown(member->fd, how);
    pthread_mutex_unlock(&clients->lock);
}

/* Waits until nobody is left; until `end` if it is not NULL. Returns whether nobody is. */
static bool wait_until_empty(struct thread_clients *clients, const struct timespec *end) {
    int error = 0;
    pthread_mutex_lock(&clients->lock);
    while (clients->count > 0 && error != ETIMEDOUT)
        error = end != NULL ? pthread_cond_clockwait(&clients->is_empty, &clients->lock,
                                                     CLOCK_MONOTONIC, end)
                            : pthread_cond_wait(&clients->is_empty, &clients->lock);
    bool is_empty = clients->count == 0;
    pthread_mutex_unlock(&clients->lock);
    return is_empty;
}

/* Until the threads of the pool have ended; NULL: there is none, and all clients have left. */
static bool are_done_by(struct thread_clients *clients, struct threads *pool,
                        const struct timespec *end) {
    return pool != NULL ? threads_end_by(pool, end) : wait_until_empty(clients, end);
}

static void drain(struct thread_clients *clients, struct threads *pool) {
    const struct timespec hearing_end = end_in(stop_hearing_ms()), end = end_in(stop_left_ms());
    if (!are_done_by(clients, pool, &hearing_end))
        shut(clients, SHUT_RD);
    if (!are_done_by(clients, pool, &end))
        shut(clients, SHUT_RDWR);
}

void thread_clients_drain(struct thread_clients *clients) {
    drain(clients, NULL);
    wait_until_empty(clients, NULL);
}

void thread_clients_drain_pool(struct thread_clients *clients, struct threads *threads) {
    drain(clients, threads);
    threads_join(threads);
}

#include "server/workers/thread_clients.h"

#include "base/clock.h"
#include "server/connection/log.h"
#include "server/stop.h"
#include "server/workers/serve_client.h"

#include <errno.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

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

void thread_clients_serve(struct thread_clients *clients, struct thread_client *member,
                          struct server *server) {
    int fd = member->fd;
    stats_add(&server->counts->open);
    serve_connection(server, fd);
    stats_subtract(&server->counts->open);
    log_disconnect(server, fd);
    /* Before closing: otherwise `shut` could hit a reused descriptor. After it, `server` may no
     * longer exist. */
    thread_clients_leave(clients, member);
    close(fd);
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

/* Waits until no client is left, or until `end` unless that is NULL. Returns whether none is left.
 */
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

/* Waits for the threads of the pool to return; without a pool (NULL), for all clients to leave. */
static bool are_done_by(struct thread_clients *clients, struct threads *pool,
                        const struct timespec *end) {
    return pool != NULL ? threads_end_by(pool, end) : wait_until_empty(clients, end);
}

static void drain(struct thread_clients *clients, struct threads *pool) {
    const struct timespec reading_end = end_in(stop_hearing_ms()), end = end_in(stop_left_ms());
    if (!are_done_by(clients, pool, &reading_end))
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

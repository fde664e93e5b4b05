#include "designs/crowd.h"

#include "base/clock.h"
#include "designs/converse.h"
#include "server/hang_up.h"
#include "server/stop.h"

#include <errno.h>
#include <sys/socket.h>
#include <time.h>

static void link_in(struct crowd *crowd, struct member *member) {
    member->previous = NULL;
    member->next = crowd->members;
    if (member->next != NULL)
        member->next->previous = member;
    crowd->members = member;
    crowd->count++;
}

bool crowd_enter(struct crowd *crowd, struct member *member, unsigned limit) {
    pthread_mutex_lock(&crowd->lock);
    bool has_room = crowd->count < limit;
    if (has_room)
        link_in(crowd, member);
    if (has_room && crowd->is_shut)
        shutdown(member->fd, crowd->is_cut ? SHUT_RDWR : SHUT_RD);
    pthread_mutex_unlock(&crowd->lock);
    return has_room;
}

void crowd_leave(struct crowd *crowd, struct member *member) {
    pthread_mutex_lock(&crowd->lock);
    if (member->previous != NULL)
        member->previous->next = member->next;
    else
        crowd->members = member->next;
    if (member->next != NULL)
        member->next->previous = member->previous;
    if (--crowd->count == 0)
        pthread_cond_signal(&crowd->is_empty);
    pthread_mutex_unlock(&crowd->lock);
}

void crowd_converse(struct crowd *crowd, struct member *member, struct server *server) {
    int fd = member->fd;
    stats_add(&server->counts->open);
    bool is_refused = converse(server, fd);
    stats_subtract(&server->counts->open);
    /* Before closing: nobody must shut a number that is used again. And from here on the server may
     * be gone. */
    crowd_leave(crowd, member);
    hang_up(fd, is_refused);
}

static struct timespec drain_end(void) {
    int64_t end_ns = clock_monotonic_ns() + stop_left_ms() * (int64_t)NS_PER_MS;
    return (struct timespec){.tv_sec = end_ns / NS_PER_S, .tv_nsec = end_ns % NS_PER_S};
}

static void shut(struct crowd *crowd, int how) {
    pthread_mutex_lock(&crowd->lock);
    crowd->is_shut = true;
    crowd->is_cut = how == SHUT_RDWR;
    for (const struct member *member = crowd->members; member != NULL; member = member->next)
        shutdown(member->fd, how);
    pthread_mutex_unlock(&crowd->lock);
}

/* Waits until nobody is left; until `end` if it is not NULL. */
static void wait_until_empty(struct crowd *crowd, const struct timespec *end) {
    int error = 0;
    pthread_mutex_lock(&crowd->lock);
    while (crowd->count > 0 && error != ETIMEDOUT)
        error = end != NULL
                    ? pthread_cond_clockwait(&crowd->is_empty, &crowd->lock, CLOCK_MONOTONIC, end)
                    : pthread_cond_wait(&crowd->is_empty, &crowd->lock);
    pthread_mutex_unlock(&crowd->lock);
}

void crowd_drain(struct crowd *crowd) {
    const struct timespec end = drain_end();
    shut(crowd, SHUT_RD);
    wait_until_empty(crowd, &end);
    shut(crowd, SHUT_RDWR);
    wait_until_empty(crowd, NULL);
}

void crowd_drain_pool(struct crowd *crowd, struct threads *threads) {
    const struct timespec end = drain_end();
    shut(crowd, SHUT_RD);
    if (!threads_end_by(threads, &end))
        shut(crowd, SHUT_RDWR);
    threads_join(threads);
}

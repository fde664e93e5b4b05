/* Open load: requests start when they are due, on whichever connection is free.
 *
 * Those that are due and find none free wait in order, and the schedule itself is the queue: it
 * stands at the first request that has not started. What a request waited before it was sent is
 * told apart: for the client (a connection was free, or became free, and the client had not got to
 * it), or for the server (all connections were busy).
 *
 * What is due and has not started when the window ends gets a sample too: it has waited so long
 * already, and to leave it out would leave out the slowest. */
#include "base/clock.h"
#include "load/connect.h"
#include "load/engine_epoll.h"

#include <errno.h>
#include <stdlib.h>

static void push(struct epoll_engine *e, struct connection *c, int64_t now_ns) {
    struct open_load *open = &e->open;
    uint32_t capacity = e->load->connections, last = open->free_first + open->free_count++;
    c->free_ns = now_ns;
    open->free[last < capacity ? last : last - capacity] = number_of(e, c);
}

static struct connection *longest_free(const struct epoll_engine *e) {
    return &e->connections[e->open.free[e->open.free_first]];
}

static struct connection *pop(struct epoll_engine *e) {
    struct connection *c = longest_free(e);
    e->open.free_count--;
    if (++e->open.free_first == e->load->connections)
        e->open.free_first = 0;
    return c;
}

/* Splits what a request waited until now. The connection is the one longest free: had another one
 * been free before it, that one would have been taken. */
static int64_t account(struct lateness *lateness, int64_t due_ns, int64_t free_ns, int64_t now_ns) {
    int64_t could_ns = free_ns > due_ns ? free_ns : due_ns;
    lateness->own_ns += now_ns - could_ns;
    lateness->server_ns += could_ns - due_ns;
    return now_ns - could_ns;
}

void open_release(struct epoll_engine *e, struct connection *c, int64_t now_ns) {
    e->deadlines_ns[number_of(e, c)] = INT64_MAX;
    connection_enter(e, c, FREE);
    push(e, c, now_ns);
}

/* 0 or -errno. */
static int connect_one(struct epoll_engine *e, struct connection *c) {
    c->fd = connect_socket(e->load, e->worker);
    int outcome = c->fd >= 0 ? connect_wait(e->load, c->fd) : c->fd;
    if (outcome == 0)
        outcome = connection_watch(e, c);
    if (outcome == 0)
        e->worker->connections_opened++;
    else
        connection_hang_up(c);
    return outcome;
}

int open_prepare(struct epoll_engine *e) {
    const struct load *load = e->load;
    e->open.free = calloc(load->connections, sizeof *e->open.free);
    if (e->open.free == NULL) {
        e->load->problem = "no memory for the connections; ask for fewer with -c";
        return -ENOMEM;
    }
    /* Connecting belongs to a request only where each makes a connection of its own, or each Kth.
     * After one that fails none is tried: the requests that come to them will, and report. */
    bool ahead = load->per_connection == 0;
    for (uint32_t i = 0; i < load->connections; i++) {
        int outcome = ahead ? connect_one(e, &e->connections[i]) : 0;
        if (outcome == -EINTR)
            return outcome;
        ahead = ahead && outcome == 0;
        open_release(e, &e->connections[i], 0);
    }
    return 0;
}

void open_begin(struct epoll_engine *e, int64_t start_ns) {
    const struct load *load = e->load;
    schedule_begin(&e->open.schedule, load->arrivals, load->rate_per_s, load->seed, start_ns);
}

void open_start_due(struct epoll_engine *e, uint32_t limit) {
    struct schedule *schedule = &e->open.schedule;
    struct lateness *lateness = &e->worker->lateness;
    for (; limit > 0 && e->open.free_count > 0; limit--) {
        e->now_ns = clock_monotonic_ns();
        if (schedule->due_ns > e->now_ns || e->now_ns >= e->end_ns ||
            lateness->count == lateness->limit)
            return;
        struct connection *c = pop(e);
        lateness->late_ns[lateness->count++] =
            account(lateness, schedule->due_ns, c->free_ns, e->now_ns);
        request_begin(e, c, schedule->due_ns);
        schedule_advance(schedule);
    }
}

int64_t open_wake_ns(const struct epoll_engine *e) {
    return e->open.free_count > 0 ? e->open.schedule.due_ns : INT64_MAX;
}

void open_end(struct epoll_engine *e, int64_t over_ns) {
    struct schedule *schedule = &e->open.schedule;
    struct lateness *lateness = &e->worker->lateness;
    int64_t free_ns = e->open.free_count > 0 ? longest_free(e)->free_ns : over_ns;
    int64_t end_ns = over_ns < e->end_ns ? over_ns : e->end_ns;
    for (; schedule->due_ns < end_ns; schedule_advance(schedule)) {
        lateness->unstarted++;
        account(lateness, schedule->due_ns, free_ns, over_ns);
        if (!worker_unstarted(e->worker, schedule->due_ns, end_ns))
            return; /* no room; the summary says so */
    }
}

#include "client/engines/open_load.h"

#include "base/clock.h"
#include "client/engines/carrier.h"
#include "client/engines/connect.h"
#include "client/engines/epoll_request.h"

#include <errno.h>
#include <stdlib.h>

/* Splits the time that a request has waited into the client's and the server's part. No connection
 * was free before free_ns, because this one has been free longest. */
static int64_t account(struct lateness *lateness, int64_t due_ns, int64_t free_ns, int64_t now_ns) {
    int64_t could_ns = free_ns > due_ns ? free_ns : due_ns;
    lateness->client_ns += now_ns - could_ns;
    lateness->server_ns += could_ns - due_ns;
    return now_ns - could_ns;
}

/* Returns 0 or -errno. */
static int connect_one(struct epoll_engine *e, struct epoll_connection *c) {
    if (c->carrier != NULL)
        return carrier_connect(e, c);
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

int open_load_prepare(struct epoll_engine *e) {
    const struct load *load = e->load;
    e->free.numbers = calloc(e->count, sizeof *e->free.numbers);
    if (e->free.numbers == NULL) {
        e->load->problem = "not enough memory for the connections; use fewer (-c)";
        return -ENOMEM;
    }
    /* Connecting is part of a request only with --per-connection. After a failure, the rest is left
     * to the requests, which report failures. */
    for (uint32_t i = 0; i < e->count; i++) {
        const bool ahead = load->per_connection == 0 && !load->is_unreachable;
        int outcome = ahead ? connect_one(e, &e->connections[i]) : 0;
        if (outcome == -EINTR)
            return outcome;
        e->load->is_unreachable |= outcome != 0;
        connection_release(e, &e->connections[i], 0);
    }
    return 0;
}

void open_load_begin(struct epoll_engine *e, int64_t start_ns) {
    const struct load *load = e->load;
    schedule_begin(&e->schedule, load->arrivals, load->rate_per_s, load->seed, start_ns);
    schedule_share(&e->schedule, number_of_thread(e), load->worker_count);
}

void open_load_start_due(struct epoll_engine *e, uint32_t limit) {
    struct schedule *schedule = &e->schedule;
    struct lateness *lateness = &e->worker->lateness;
    for (; limit > 0 && e->free.count > 0; limit--) {
        e->now_ns = clock_monotonic_ns();
        if (schedule->due_ns > e->now_ns || e->now_ns >= e->end_ns ||
            lateness->own.count == lateness->own.limit)
            return;
        struct epoll_connection *c = connection_take_free(e);
        times_add(&lateness->own, account(lateness, schedule->due_ns, c->free_ns, e->now_ns));
        request_begin(e, c, schedule->due_ns);
        schedule_advance(schedule);
    }
}

int64_t open_load_wake_ns(const struct epoll_engine *e) {
    return e->free.count > 0 ? e->schedule.due_ns : INT64_MAX;
}

void open_load_end(struct epoll_engine *e, int64_t over_ns) {
    struct schedule *schedule = &e->schedule;
    struct lateness *lateness = &e->worker->lateness;
    int64_t free_ns = e->free.count > 0 ? connection_longest_free(e)->free_ns : over_ns;
    int64_t end_ns = over_ns < e->end_ns ? over_ns : e->end_ns;
    for (; schedule->due_ns < end_ns; schedule_advance(schedule)) {
        lateness->unstarted++;
        account(lateness, schedule->due_ns, free_ns, over_ns);
        if (!worker_unstarted(e->worker, schedule->due_ns, end_ns))
            return; /* no more samples fit; the summary says so */
    }
}

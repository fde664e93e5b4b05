/* The loop of a thread, on edge-triggered epoll.
 *
 * A descriptor is registered once, for both directions: one edge reports that it is connected,
 * another that the reply has arrived. A request costs one send, one recv and its share of an
 * epoll_wait; no allocation, and no timer except an occasional sweep over an array of deadlines.
 * Most of what it costs is TCP's work in the send, so io_uring saves nothing: the same loop on one
 * needs 0.994 ± 0.009 of the CPU time at 50 connections, 1.01 ± 0.04 at 1,000. */
#include "client/engines/epoll_loop.h"

#include "base/clock.h"
#include "client/engines/carrier.h"
#include "client/engines/epoll_request.h"
#include "client/engines/idle_connections.h"
#include "client/engines/open_load.h"
#include "client/engines/slow_connections.h"
#include "client/load/stop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { BODY_LIMIT = 64 * 1024, EVENT_BATCH = 256 };

/* Fails requests that took too long, and resumes paused connections. */
static void sweep(struct epoll_engine *e) {
    for (uint32_t i = 0; i < e->count; i++) {
        if (e->deadlines_ns[i] > e->now_ns)
            continue;
        struct epoll_connection *c = &e->connections[i];
        if (c->state == PAUSED && e->now_ns >= e->end_ns)
            connection_rest(e, c);
        else if (c->state == PAUSED && e->load->shape == SHAPE_OPEN)
            connection_release(e, c, e->now_ns);
        else if (c->state == PAUSED)
            request_begin(e, c, e->now_ns);
        else if (c->state == CONNECTING)
            request_fail(e, c, OUTCOME_CONNECT, load_connect_problem(ETIMEDOUT));
        else if (c->state != RESTING)
            request_fail(e, c, OUTCOME_TIMEOUT, "no complete reply in time");
    }
}

/* Waits with nanosecond resolution if the kernel can (Linux 5.11), because a millisecond matters.
 */
static int wait_for_events(struct epoll_engine *e, struct epoll_event *events, int64_t until_ns) {
    e->now_ns = clock_monotonic_ns();
    int64_t left_ns = until_ns > e->now_ns ? until_ns - e->now_ns : 0;
    struct timespec left = {.tv_sec = left_ns / NS_PER_S, .tv_nsec = left_ns % NS_PER_S};
    int count = epoll_pwait2(e->epoll_fd, events, EVENT_BATCH, &left, NULL);
    if (count < 0 && errno == ENOSYS)
        count = epoll_wait(e->epoll_fd, events, EVENT_BATCH,
                           (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS));
    return count;
}

static bool is_first(const struct epoll_engine *e) {
    return number_of_thread(e) == 0;
}

static int64_t thread_cpu_ns(void) {
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * (int64_t)NS_PER_S + used.tv_nsec;
}

/* Ends the window, in which requests start; replies to current requests are still awaited. */
static void end_window(struct epoll_engine *e) {
    e->is_over = true;
    e->worker->cpu_ns += thread_cpu_ns();
    if (is_first(e))
        client_cost_end(&e->load->cost);
    if (e->idle != NULL)
        idle_serve_all(e->idle);
}

/* Handles an event of a connection, or of the idle connections. */
static void handle(struct epoll_engine *e, const struct epoll_event *event) {
    if (event->data.ptr == NULL)
        idle_serve(e->idle);
    else
        request_handle(e, event->data.ptr, event->events);
    /* A batch of events takes longer than a request may be late. At most one start per event, so
     * that due requests do not delay replies either. */
    if (e->load->shape == SHAPE_OPEN && e->schedule.due_ns <= e->now_ns)
        open_load_start_due(e, 1);
}

/* When the next timed action is due, CLOCK_MONOTONIC. */
static int64_t wake_ns(const struct epoll_engine *e, int64_t next_sweep_ns) {
    int64_t wake_ns = next_sweep_ns;
    if (e->slow != NULL && slow_wake_ns(e->slow) < wake_ns)
        wake_ns = slow_wake_ns(e->slow);
    if (e->is_over)
        return wake_ns;
    if (e->load->shape == SHAPE_OPEN && open_load_wake_ns(e) < wake_ns)
        wake_ns = open_load_wake_ns(e);
    return e->end_ns < wake_ns ? e->end_ns : wake_ns;
}

/* Runs until no request is under way and, in an open load, the window is over. */
static void serve(struct epoll_engine *e) {
    struct epoll_event events[EVENT_BATCH];
    bool open = e->load->shape == SHAPE_OPEN;
    /* Timeouts are found within 2 %, and pauses end within a fraction of their length. */
    int64_t timeout_ms = e->load->timeout_ns / NS_PER_MS;
    int64_t tick_ns = (timeout_ms < 50 ? 1 : timeout_ms > 1000 ? 20 : timeout_ms / 50) * NS_PER_MS;
    int64_t next_sweep_ns = e->now_ns + tick_ns;
    int64_t over_ns = 0;
    while ((e->active > 0 || (open && !e->is_over)) && !stop_requested()) {
        int count = wait_for_events(e, events, wake_ns(e, next_sweep_ns));
        for (int i = 0; i < count; i++)
            handle(e, &events[i]);
        e->now_ns = clock_monotonic_ns();
        if (open)
            open_load_start_due(e, EVENT_BATCH);
        if (e->slow != NULL)
            slow_serve(e->slow, e->now_ns);
        if (e->now_ns >= next_sweep_ns) {
            sweep(e);
            next_sweep_ns = e->now_ns + tick_ns;
        }
        if (!e->is_over && e->now_ns >= e->end_ns) {
            end_window(e);
            over_ns = e->now_ns;
        }
    }
    if (!e->is_over && e->load->shape != SHAPE_BURST) { /* interrupted */
        end_window(e);
        over_ns = e->now_ns;
    }
    if (open)
        open_load_end(e, over_ns);
}

static void hang_up_all(struct epoll_engine *e) {
    carriers_hang_up(e);
    for (uint32_t i = 0; e->connections != NULL && i < e->count; i++)
        connection_hang_up(&e->connections[i]);
}

void epoll_loop_close(struct epoll_engine *e) {
    if (e == NULL)
        return;
    hang_up_all(e);
    carriers_close(e);
    for (uint32_t i = 0; e->connections != NULL && i < e->count; i++)
        text_release(&e->connections[i].body);
    if (e->epoll_fd >= 0)
        close(e->epoll_fd);
    idle_close(e->idle);
    slow_close(e->slow);
    free(e->free.numbers);
    free(e->deadlines_ns);
    free(e->connections);
    free(e);
}

/* Divides the connections evenly, each with its streams. */
static void take_share(struct epoll_engine *e) {
    const uint32_t threads = e->load->worker_count, number = number_of_thread(e);
    const uint32_t each = e->load->connections / threads, more = e->load->connections % threads;
    e->count = (each + (number < more)) * e->load->streams;
    e->first = (number * each + (number < more ? number : more)) * e->load->streams;
}

struct epoll_engine *epoll_loop_open(struct load *load, uint32_t number) {
    struct epoll_engine *e = calloc(1, sizeof *e);
    if (e == NULL)
        return NULL;
    e->load = load;
    e->worker = &load->workers[number];
    take_share(e);
    e->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    e->deadlines_ns = calloc(e->count, sizeof *e->deadlines_ns);
    e->connections = calloc(e->count, sizeof *e->connections);
    for (uint32_t i = 0; e->connections != NULL && i < e->count; i++) {
        e->connections[i].fd = -1;
        e->connections[i].body = text_growing(BODY_LIMIT);
    }
    if (e->connections == NULL || e->deadlines_ns == NULL || e->epoll_fd < 0 ||
        (load->carriage != NULL && carriers_open(e) != 0)) {
        epoll_loop_close(e);
        return NULL;
    }
    return e;
}

static int open_idle(struct epoll_engine *e) {
    int outcome = idle_open(e->load, &e->idle);
    if (outcome != 0)
        return outcome;
    struct epoll_event ended = {.events = EPOLLIN, .data.ptr = NULL};
    return epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, idle_fd(e->idle), &ended) == 0 ? 0 : -errno;
}

int epoll_loop_connect(struct epoll_engine *e) {
    int outcome = is_first(e) && e->load->idle_count > 0 ? open_idle(e) : 0;
    if (outcome == 0 && is_first(e) && e->load->slow_count > 0)
        outcome = slow_open(e->load, &e->slow);
    if (outcome == 0 && e->load->shape == SHAPE_OPEN)
        outcome = open_load_prepare(e);
    if (outcome == -EINTR)
        e->load->problem = "interrupted before the load began";
    return outcome;
}

static void begin_all(struct epoll_engine *e) {
    for (uint32_t i = 0; i < e->count; i++) {
        e->now_ns = clock_monotonic_ns();
        request_begin(e, &e->connections[i], e->now_ns);
    }
}

void epoll_loop_run(struct epoll_engine *e, int64_t begin_ns) {
    const struct load *load = e->load;
    uint32_t rounds = load->shape == SHAPE_BURST ? load->rounds : 1;
    e->worker->began_ns = e->now_ns = clock_monotonic_ns();
    e->worker->cpu_ns = -thread_cpu_ns();
    e->end_ns = load->shape == SHAPE_BURST ? INT64_MAX : begin_ns + load->duration_ns;
    if (e->slow != NULL)
        slow_begin(e->slow, e->now_ns);
    for (uint32_t round = 0; round < rounds && !stop_requested(); round++) {
        if (load->shape == SHAPE_OPEN)
            open_load_begin(e, begin_ns);
        else
            begin_all(e);
        serve(e);
    }
    if (!e->is_over)
        end_window(e); /* a burst does not include closing thousands of connections */
    else if (e->idle != NULL)
        idle_serve_all(e->idle); /* those that ended while the last replies were awaited */
    hang_up_all(e);
}

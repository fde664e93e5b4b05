/* An event loop on io_uring.
 *
 * The server tells the kernel what to do instead of asking what is ready: one accept, and one
 * receive per connection, stay in flight and complete again and again (multishot); replies are sent
 * through the ring; one system call per turn submits everything and waits for completions. Only
 * large replies to many pipelined requests take further calls: see serve.
 *
 * A request costs one submission (its reply), one completion (its arrival), and one system call
 * with a single client, 1/45 with 50 busy ones, 1/140 with 1,000. Measured alternatives: submitting
 * a receive for each request costs 11 % more CPU, send(2) instead of the ring 7 %. Direct
 * descriptors save nothing measurable (1.01 ± 0.03), and the log and close_connection need ordinary
 * ones. */
#include "uring/loop.h"
#include "base/clock.h"
#include "base/limits.h"
#include "connection/accept.h"
#include "lifecycle/stop.h"
#include "uring/connection.h"
#include "uring/surplus.h"

#include <errno.h>
#include <stdlib.h>

/* Bytes of replies: sending fewer costs less than a system call. */
enum { SUBMIT_BYTES = 16 * 1024 };

/* A multishot accept ends when it fails. Then listener_accept handles the failure once the next
 * client is waiting: if no descriptor is free, another accept would fail at once. */
static void accepted(struct uring_loop *loop, int result, uint32_t flags) {
    int fd = result >= 0 ? listener_admit(loop->base.server, result) : result;
    if (fd >= 0)
        loop_add_client(&loop->base, fd);
    if (flags & IORING_CQE_F_MORE)
        return;
    loop->accepting = 0;
    if (stop_is_requested())
        return;
    if (result >= 0)
        uring_accept(loop);
    else
        uring_wait_for_clients(loop);
}

static void clients_wait(struct uring_loop *loop) {
    loop->accepting = 0;
    if (stop_is_requested())
        return;
    loop_accept(&loop->base, ACCEPT_BATCH);
    uring_accept(loop);
}

/* Replies submitted with the last wait are sent in full unless a completion says otherwise. */
static void complete_sends(struct uring_loop *loop) {
    struct io_uring *ring = &loop->uring.ring;
    struct io_uring_cqe *completion;
    unsigned head;
    io_uring_for_each_cqe(ring, head, completion) {
        char *data = io_uring_cqe_get_data(completion);
        if (operation_of(data) == SEND)
            connection_of(data)->sent = completion->res;
    }
    /* In rare cases not everything was submitted, or not all completions fit into the ring: the
     * rest comes with the next wait. The results noted above do not come again. */
    loop->must_not_block = io_uring_sq_ready(ring) > 0 || io_uring_cq_has_overflow(ring);
    if (loop->must_not_block)
        return;
    struct uring_connection *next, *connection = loop->sending;
    loop->sending = NULL;
    for (; connection != NULL; connection = next) {
        next = connection->next_sending;
        uring_sent(loop, connection, connection->sent);
    }
}

static void complete(struct uring_loop *loop, char *data, int result, uint32_t flags) {
    switch (operation_of(data)) {
    case RECEIVE:
        uring_received(loop, connection_of(data), result, flags);
        break;
    case SEND_SLOWLY:
        uring_sent(loop, connection_of(data), result);
        break;
    case ACCEPT:
        accepted(loop, result, flags);
        break;
    case LISTEN:
        clients_wait(loop);
        break;
    case TIMER:
        loop->is_timing = false;
        break;
    case STOP:
        if (result < 0) /* otherwise a worker that waits would not notice the stop */
            uring_watch_stop(loop);
        break;
    case CANCEL: /* it failed: of what has ended or is about to end, this is no failure */
        loop->is_cancelling &= result == -ENOENT || result == -EALREADY;
        break;
    default:
        break;
    }
}

/* ---- As a loop ---- */

static int open_ring(struct loop *base) {
    struct uring_loop *loop = (struct uring_loop *)base;
    const struct uring *prepared = base->server->prepared;
    if (prepared != NULL)
        loop->uring = prepared[server_worker(base->server)];
    int error = prepared != NULL ? uring_enable(&loop->uring) : uring_open(&loop->uring);
    if (error != 0)
        return error;
    uring_accept(loop);
    uring_watch_stop(loop);
    return 0;
}

static void close_ring(struct loop *base) {
    uring_close(&((struct uring_loop *)base)->uring);
    for (struct connection *c = base->connections.open.oldest; c != NULL; c = c->newer)
        surplus_release(&((struct uring_connection *)c)->surplus);
}

static void begin(struct loop *loop, struct connection *connection) {
    uring_receive((struct uring_loop *)loop, (struct uring_connection *)connection, true);
}

static void time_out(struct loop *loop, struct connection *connection) {
    uring_time_out((struct uring_loop *)loop, (struct uring_connection *)connection);
}

/* What cannot be submitted now is submitted with the next wait. */
static void submit(struct uring_loop *loop) {
    io_uring_submit(&loop->uring.ring);
    loop->unsent = 0;
}

/* Submitting replies sends them, which must count towards the TURN_US that all queued connections
 * share: the kernel needs 15 ms for a hundred large replies. So they do not all wait for the next
 * wait. */
static void serve(struct loop *base, struct connection *connection) {
    struct uring_loop *loop = (struct uring_loop *)base;
    uring_serve(loop, (struct uring_connection *)connection);
    if (loop->unsent >= SUBMIT_BYTES)
        submit(loop);
}

/* The server's own work must not count as idle time of its clients. */
static void restart_idle_times(struct uring_loop *loop) {
    if (loop->sending != NULL)
        loop->base.now_ns = clock_monotonic_ns();
    for (struct uring_connection *c = loop->sending; c != NULL; c = c->next_sending)
        c->base.active_ns = loop->base.now_ns;
}

/* A timer in the ring ends the wait for an idle timeout, so most waits need no time limit. */
static int turn(struct loop *base, int wait_ms) {
    struct uring_loop *loop = (struct uring_loop *)base;
    struct io_uring *ring = &loop->uring.ring;
    struct __kernel_timespec limit = {.tv_sec = wait_ms / 1000,
                                      .tv_nsec = wait_ms % 1000 * NS_PER_MS};
    struct io_uring_cqe *completion;
    restart_idle_times(loop);
    uring_set_timer(loop);
    int error = loop->must_not_block ? io_uring_submit_and_get_events(ring)
                : wait_ms < 0
                    ? io_uring_submit_and_wait(ring, 1)
                    : io_uring_submit_and_wait_timeout(ring, &completion, 1, &limit, NULL);
    if (error >= 0 || error == -ETIME || error == -EAGAIN || error == -EBUSY)
        loop_waited(base, 0);
    else if (loop->error == 0) /* keep the error of a failed submission */
        loop->error = error == -EBADR ? error : loop_waited(base, error);
    loop->unsent = 0;
    unsigned ready = io_uring_cq_ready(ring); /* later completions are for the next turn */
    complete_sends(loop);
    for (; ready > 0 && io_uring_peek_cqe(ring, &completion) == 0; ready--) {
        char *data = io_uring_cqe_get_data(completion);
        int result = completion->res;
        uint32_t flags = completion->flags;
        io_uring_cqe_seen(ring, completion);
        complete(loop, data, result, flags);
    }
    if (base->queued != NULL) {
        submit(loop); /* replies need not wait for the queue */
        loop_serve_queued(base);
    }
    loop->must_not_block |= base->queued != NULL;
    return loop->error;
}

static void stop_accepting(struct loop *base) {
    struct uring_loop *loop = (struct uring_loop *)base;
    while (loop->accepting != 0 && loop->error == 0 && !stop_is_over()) {
        if (!loop->is_cancelling)
            uring_cancel(loop, loop->accepting);
        loop->is_cancelling = true;
        turn(base, stop_left_ms());
    }
}

/* Not with shutdown(2): the sandbox allows it here only to end a reply, because the ring could
 * connect a listener that was shut down (TCP Fast Open). */
static void end_reading(struct loop *base) {
    struct uring_loop *loop = (struct uring_loop *)base;
    loop->reads_leftovers = true;
    for (struct connection *c = base->connections.open.oldest; c != NULL; c = c->newer)
        uring_stop_receiving(loop, (struct uring_connection *)c);
}

static const struct loop_kind kind = {
    .connection_size = sizeof(struct uring_connection),
    .open = open_ring,
    .close = close_ring,
    .begin = begin,
    .time_out = time_out,
    .serve = serve,
    .turn = turn,
    .stop_accepting = stop_accepting,
    .end_reading = end_reading,
};

int uring_prepare(struct server *server) {
    struct uring *rings = calloc(server->options->workers, sizeof *rings);
    int error = rings == NULL ? -ENOMEM : 0;
    for (unsigned worker = 0; error == 0 && worker < server->options->workers; worker++)
        error = uring_create_disabled(&rings[worker]);
    server->prepared = rings;
    return error;
}

int uring_run(struct server *server, struct opening *opening) {
    struct uring_loop loop = {.base = {.kind = &kind, .server = server, .opening = opening}};
    return loop_run(&loop.base);
}

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
#include "server/uring/loop.h"
#include "base/clock.h"
#include "base/limits.h"
#include "server/connection/accept.h"
#include "server/stop.h"
#include "server/uring/connection.h"
#include "server/uring/surplus.h"

#include <errno.h>
#include <stdlib.h>

static void begin(struct uring_loop *loop, int fd) {
    struct connection *connection = loop_add_client(&loop->base, fd);
    if (connection != NULL)
        uring_receive(loop, (struct uring_connection *)connection, true);
}

static void accept_clients(struct uring_loop *loop, int limit) {
    for (int fd; limit > 0 && (fd = listener_accept(loop->base.server)) >= 0; limit--)
        begin(loop, fd);
}

/* A multishot accept ends when it fails. Then listener_accept handles the failure once the next
 * client is waiting: if no descriptor is free, another accept would fail at once. */
static void accepted(struct uring_loop *loop, int result, uint32_t flags) {
    int fd = result >= 0 ? listener_admit(loop->base.server, result) : result;
    if (fd >= 0)
        begin(loop, fd);
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
    accept_clients(loop, ACCEPT_BATCH);
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
    loop->must_not_block = (io_uring_sq_ready(ring) > 0 && loop->uring.kind != RINGS_POLLED) ||
                           io_uring_cq_has_overflow(ring);
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

/* ---- Turns ---- */

static void serve(struct loop *base, struct connection *connection) {
    uring_serve((struct uring_loop *)base, (struct uring_connection *)connection);
}

/* The server's own work must not count as idle time of its clients. */
static void restart_idle_times(struct uring_loop *loop) {
    if (loop->sending != NULL)
        loop->base.now_ns = clock_monotonic_ns();
    for (struct uring_connection *c = loop->sending; c != NULL; c = c->next_sending)
        c->base.active_ns = loop->base.now_ns;
}

/* A timer in the ring ends the wait for an idle timeout, so most waits need no time limit. wait_ms:
 * -1: none. */
static int wait(struct uring_loop *loop, int wait_ms) {
    struct io_uring *ring = &loop->uring.ring;
    struct __kernel_timespec limit = {.tv_sec = wait_ms / 1000,
                                      .tv_nsec = wait_ms % 1000 * NS_PER_MS};
    struct io_uring_cqe *completion;
    if (loop->must_not_block)
        return io_uring_submit_and_get_events(ring);
    if (loop->uring.kind == RINGS_TUNED && loop->completed > 1)
        return uring_gather(&loop->uring, loop->completed, wait_ms < 0 ? NULL : &limit);
    if (wait_ms < 0)
        return io_uring_submit_and_wait(ring, 1);
    return io_uring_submit_and_wait_timeout(ring, &completion, 1, &limit, NULL);
}

/* Waits once, and handles all that is ready. Errors are in loop->error. */
static void turn(struct uring_loop *loop, int wait_ms) {
    struct io_uring *ring = &loop->uring.ring;
    struct loop *base = &loop->base;
    struct io_uring_cqe *completion;
    restart_idle_times(loop);
    uring_set_timer(loop);
    int error = wait(loop, wait_ms);
    if (error >= 0 || error == -ETIME || error == -EAGAIN || error == -EBUSY)
        loop_waited(base, 0);
    else if (loop->error == 0) /* keep the error of a failed submission */
        loop->error = error == -EBADR ? error : loop_waited(base, error);
    unsigned ready = io_uring_cq_ready(ring); /* later completions are for the next turn */
    loop->completed = ready;
    complete_sends(loop);
    for (; ready > 0 && io_uring_peek_cqe(ring, &completion) == 0; ready--) {
        char *data = io_uring_cqe_get_data(completion);
        int result = completion->res;
        uint32_t flags = completion->flags;
        io_uring_cqe_seen(ring, completion);
        complete(loop, data, result, flags);
    }
    if (base->queued != NULL) {
        io_uring_submit(ring); /* replies need not wait for the queue */
        loop_serve_queued(base, serve);
    }
    loop->must_not_block |= base->queued != NULL;
}

static void close_late(struct uring_loop *loop) {
    for (struct connection *late; (late = loop_next_late(&loop->base)) != NULL;)
        if (!late->was_spared) /* else a completion will tell of what it has sent */
            uring_time_out(loop, (struct uring_connection *)late);
}

/* ---- The loop ---- */

static void stop_accepting(struct uring_loop *loop) {
    while (loop->accepting != 0 && loop->error == 0 && !stop_is_over()) {
        if (!loop->is_cancelling)
            uring_cancel(loop, loop->accepting);
        loop->is_cancelling = true;
        turn(loop, stop_left_ms());
    }
    accept_clients(loop, CONNECTION_LIMIT);
}

/* Not with shutdown(2): the sandbox allows it here only to end a reply, because the ring could
 * connect a listener that was shut down (TCP Fast Open). */
static void end_reading(struct uring_loop *loop) {
    loop->reads_leftovers = true;
    for (struct connection *c = loop->base.connections.open.oldest; c != NULL; c = c->newer)
        uring_stop_receiving(loop, (struct uring_connection *)c);
}

/* Whether there is another turn. */
static bool goes_on(struct uring_loop *loop) {
    if (loop->error != 0 || !stop_is_requested())
        return loop->error == 0;
    if (loop_must_stop_accepting(&loop->base))
        stop_accepting(loop);
    if (loop_must_end_reading(&loop->base))
        end_reading(loop);
    return loop->error == 0 && !loop_is_over(&loop->base);
}

static int open_ring(struct uring_loop *loop) {
    const struct server *server = loop->base.server;
    const struct uring *prepared = server->prepared;
    if (prepared != NULL)
        loop->uring = prepared[server_worker(server)];
    int error = prepared != NULL ? uring_enable(&loop->uring)
                                 : uring_open(&loop->uring, server->options->design->rings);
    if (error != 0)
        return error;
    uring_accept(loop);
    uring_watch_stop(loop);
    return 0;
}

int uring_run(struct server *server, struct opening *opening) {
    struct uring_loop loop = {.base = {.server = server, .opening = opening}};
    int error = loop_open(&loop.base, sizeof(struct uring_connection), open_ring(&loop));
    if (error != 0)
        return error;
    while (goes_on(&loop)) {
        turn(&loop, loop_drain_ms(&loop.base));
        if (loop.error == 0)
            close_late(&loop);
    }
    uring_close(&loop.uring);
    for (struct connection *c = loop.base.connections.open.oldest; c != NULL; c = c->newer)
        surplus_release(&((struct uring_connection *)c)->surplus);
    loop_close(&loop.base);
    return loop.error;
}

int uring_prepare(struct server *server) {
    struct uring *rings = calloc(server->options->workers, sizeof *rings);
    int error = rings == NULL ? -ENOMEM : 0;
    for (unsigned worker = 0; error == 0 && worker < server->options->workers; worker++)
        error = uring_create_disabled(&rings[worker], server->options->design->rings);
    server->prepared = rings;
    return error;
}

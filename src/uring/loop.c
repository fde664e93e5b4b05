/* An event loop on io_uring.
 *
 * The kernel is told what to do, not asked what is ready: one accept, and one receive for each
 * connection, stay under way and complete again and again (multishot); replies are sent through the
 * ring; one system call a turn submits everything and waits for completions. Where clients send
 * many requests together, their large replies take further ones: serve.
 *
 * A request costs one submission, for its reply, and one completion, for its arrival; and one
 * system call with a single client, 1/45 with 50 busy ones, 1/140 with 1,000. Tried and measured: a
 * receive submitted for each request costs 11 % more CPU, send(2) instead of the ring 7 %. Direct
 * descriptors save nothing measurable (1.01 ± 0.03), and the log and close_connection need
 * descriptors of the process. */
#include "uring/loop.h"
#include "base/clock.h"
#include "base/limits.h"
#include "server/stop.h"
#include "uring/connection.h"
#include "uring/surplus.h"

#include <errno.h>
#include <stdlib.h>

/* Bytes of replies: what is cheaper to send costs less than the system call. */
enum { SENT_TOGETHER = 16 * 1024 };

/* A multishot accept ends when it fails. listener_accept deals with the failure, once a client
 * waits again: with no descriptor left, another accept would fail at once. */
static void accepted(struct uring_loop *loop, int result, uint32_t flags) {
    int fd = result >= 0 ? listener_welcome(loop->base.server, result) : result;
    if (fd >= 0)
        loop_welcome(&loop->base, fd);
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

/* Replies submitted with the last wait are sent in full, unless a completion says otherwise. */
static void settle(struct uring_loop *loop) {
    struct io_uring *ring = &loop->uring.ring;
    struct io_uring_cqe *completion;
    unsigned head;
    io_uring_for_each_cqe(ring, head, completion) {
        char *data = io_uring_cqe_get_data(completion);
        if (operation_of(data) == SEND)
            connection_of(data)->sent = completion->res;
    }
    /* Rarely, not all was submitted or not all completions fit into the ring: the rest comes with
     * the next wait. What completed now is noted above, for it does not come again. */
    loop->is_hurried = io_uring_sq_ready(ring) > 0 || io_uring_cq_has_overflow(ring);
    if (loop->is_hurried)
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
    int error = prepared != NULL ? uring_begin(&loop->uring) : uring_open(&loop->uring);
    if (error != 0)
        return error;
    uring_accept(loop);
    uring_watch_stop(loop);
    return 0;
}

static void close_ring(struct loop *base) {
    uring_close(&((struct uring_loop *)base)->uring);
    for (struct connection *c = base->connections.oldest; c != NULL; c = c->newer)
        surplus_release(&((struct uring_connection *)c)->surplus);
}

static void begin(struct loop *loop, struct connection *connection) {
    uring_receive((struct uring_loop *)loop, (struct uring_connection *)connection, true);
}

static void time_out(struct loop *loop, struct connection *connection) {
    uring_time_out((struct uring_loop *)loop, (struct uring_connection *)connection);
}

/* What cannot be submitted now will be with the next wait. */
static void submit(struct uring_loop *loop) {
    io_uring_submit(&loop->uring.ring);
    loop->unsent = 0;
}

/* Replies are sent when they are submitted: not all with the next wait, so that this is part of the
 * while that all who are queued have together. For large ones of a hundred the kernel needs 15 ms.
 */
static void serve(struct loop *base, struct connection *connection) {
    struct uring_loop *loop = (struct uring_loop *)base;
    uring_serve(loop, (struct uring_connection *)connection);
    if (loop->unsent >= SENT_TOGETHER)
        submit(loop);
}

/* Our own work does not count as the client's idle time. */
static void note_answered(struct uring_loop *loop) {
    if (loop->sending != NULL)
        loop->base.now_ns = clock_monotonic_ns();
    for (struct uring_connection *c = loop->sending; c != NULL; c = c->next_sending)
        c->base.active_ns = loop->base.now_ns;
}

/* For idle timeouts a timer ends the wait, so that most waits have no limit. */
static int turn(struct loop *base, int wait_ms) {
    struct uring_loop *loop = (struct uring_loop *)base;
    struct io_uring *ring = &loop->uring.ring;
    struct __kernel_timespec limit = {.tv_sec = wait_ms / 1000,
                                      .tv_nsec = wait_ms % 1000 * NS_PER_MS};
    struct io_uring_cqe *completion;
    note_answered(loop);
    uring_set_timer(loop);
    int error = loop->is_hurried ? io_uring_submit_and_get_events(ring)
                : wait_ms < 0
                    ? io_uring_submit_and_wait(ring, 1)
                    : io_uring_submit_and_wait_timeout(ring, &completion, 1, &limit, NULL);
    if (error >= 0 || error == -ETIME || error == -EAGAIN || error == -EBUSY)
        loop_waited(base, 0);
    else if (loop->error == 0) /* a request that could not be submitted stays an error */
        loop->error = error == -EBADR ? error : loop_waited(base, error);
    loop->unsent = 0;
    unsigned ready = io_uring_cq_ready(ring); /* later completions are for the next turn */
    settle(loop);
    for (; ready > 0 && io_uring_peek_cqe(ring, &completion) == 0; ready--) {
        char *data = io_uring_cqe_get_data(completion);
        int result = completion->res;
        uint32_t flags = completion->flags;
        io_uring_cqe_seen(ring, completion);
        complete(loop, data, result, flags);
    }
    if (base->queued != NULL) {
        submit(loop); /* others need not wait for what takes a while */
        loop_serve_queued(base);
    }
    loop->is_hurried |= base->queued != NULL;
    return loop->error;
}

static void stop_accepting(struct loop *base) {
    struct uring_loop *loop = (struct uring_loop *)base;
    if (loop->accepting != 0)
        uring_cancel(loop, loop->accepting);
    while (loop->accepting != 0 && loop->error == 0)
        turn(base, stop_left_ms());
}

/* Without shutdown(2): the sandbox allows it no more here than to end a reply, for of a listener
 * that was shut down the ring could make a connection (TCP's fast open). */
static void end_reading(struct loop *base) {
    struct uring_loop *loop = (struct uring_loop *)base;
    loop->reads_no_more = true;
    for (struct connection *c = base->connections.oldest; c != NULL; c = c->newer)
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
        error = uring_make(&rings[worker]);
    server->prepared = rings;
    return error;
}

int uring_run(struct server *server, pthread_barrier_t *opening) {
    struct uring_loop loop = {.base = {.kind = &kind, .server = server, .opening = opening}};
    return loop_run(&loop.base);
}

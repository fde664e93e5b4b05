/* uring and uring-reactors: one event loop on io_uring, or one in each worker.
 *
 * The kernel is told what to do, not asked what is ready: one accept and one receive for each
 * connection stay under way and complete again and again (multishot), replies are sent through the
 * ring, and one system call a turn hands over all that is to be done and waits for what is done.
 *
 * A request costs one entry in the ring, its reply's, and one completion, its arrival's; and of a
 * system call all of one with a single client, 1/45 with 50 that are busy, 1/140 with 1,000.
 * Measured against this (docs/measured.md): a receive ordered for each request costs 11 %
 * more CPU, send(2) in place of the ring 7 %. Direct descriptors would save nothing that could be
 * measured (1.01 ± 0.03), and log and hang_up need descriptors of the process. */
#include "base/clock.h"
#include "base/limits.h"
#include "designs/reactors.h"
#include "designs/uring_ring.h"
#include "designs/uring_surplus.h"
#include "server/answer.h"
#include "server/connections.h"
#include "server/design.h"
#include "server/log.h"
#include "server/stop.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

/* What a completion is of: the lowest bits of its user data, beside the connection's address. */
enum operation {
    CANCEL, /* whether it found anything does not matter */
    RECEIVE,
    SEND,        /* what fits now; no completion: all of it */
    SEND_SLOWLY, /* ... when there is room */
    ACCEPT,      /* multishot, of the listener */
    LISTEN,      /* ... or waiting until somebody can be accepted, after it failed */
    TIMER,       /* for the longest silent */
    STOP,
    OPERATION_MASK = 15,
};

/* A connection's operations that are under way: it must outlive them. */
enum {
    RECEIVING = 1 << RECEIVE,
    SENDING_SLOWLY = 1 << SEND_SLOWLY,
    SENDING = 1 << SEND | SENDING_SLOWLY,
};

/* More than this may a client not send ahead; but what was under way when that was seen is kept:
 * up to BUFFER_COUNT buffers more on the oldest kernels, 32 since Linux 6.8. */
enum { SURPLUS_LIMIT = HEAD_LIMIT };

struct loop {
    struct server *server;
    struct connections connections;
    struct uring uring;
    struct connection *sending; /* those whose replies are sent with the next wait */
    bool is_hurried;            /* ... which is none: there is more to do as soon as they are */
    uint64_t accepting; /* the user data of what is under way for the listener; 0: nothing */
    bool is_timing;
    struct __kernel_timespec deadline; /* of the timer: CLOCK_MONOTONIC */
    int64_t now_ns;
    int error;                   /* 0, or -errno: the ring takes no more, the loop ends */
    struct io_uring_sqe nowhere; /* ... and what was still to be handed over goes here */
};

/* ---- Telling the kernel what to do ---- */

/* An entry to be filled in; it is handed over with the next wait. */
static struct io_uring_sqe *next_entry(struct loop *loop) {
    struct io_uring_sqe *entry = io_uring_get_sqe(&loop->uring.ring);
    if (entry == NULL) { /* full: hand over what there is */
        int submitted = io_uring_submit(&loop->uring.ring);
        entry = io_uring_get_sqe(&loop->uring.ring);
        if (entry == NULL) {
            loop->error = submitted < 0 ? submitted : -EBUSY;
            return &loop->nowhere;
        }
    }
    return entry;
}

static uint64_t data_of(const struct connection *connection, enum operation operation) {
    return (uint64_t)(uintptr_t)connection | operation;
}

/* Multishot, but for the first: a client that asks once and is closed then, as many are, needs no
 * cancelling. */
static void receive(struct loop *loop, struct connection *connection, bool is_first) {
    struct io_uring_sqe *entry = next_entry(loop);
    if (is_first)
        io_uring_prep_recv(entry, connection->fd, NULL, BUFFER_BYTES, 0);
    else
        io_uring_prep_recv_multishot(entry, connection->fd, NULL, 0, 0);
    entry->flags |= IOSQE_BUFFER_SELECT;
    entry->buf_group = BUFFER_GROUP;
    entry->user_data = data_of(connection, RECEIVE);
    connection->under_way |= RECEIVING;
}

/* Sending never waits here (MSG_DONTWAIT): when the kernel has taken the entry it is over. So it
 * needs no completion, but for an error or less than all (MSG_WAITALL), which is then there when
 * the call returns (settle). That saves the wake-up for it, which with few clients is a system call
 * a request. */
static void send_now(struct loop *loop, struct connection *connection, struct span out) {
    struct io_uring_sqe *entry = next_entry(loop);
    io_uring_prep_send(entry, connection->fd, out.bytes, out.length,
                       MSG_NOSIGNAL | MSG_DONTWAIT | MSG_WAITALL);
    entry->flags |= IOSQE_CQE_SKIP_SUCCESS;
    entry->user_data = data_of(connection, SEND);
    connection->under_way |= 1 << SEND;
    connection->sent = (int)out.length;
    connection->next_again = loop->sending;
    loop->sending = connection;
}

/* To one whose socket is full. Not MSG_WAITALL: every piece that it takes is a sign of life. */
static void send_slowly(struct loop *loop, struct connection *connection, struct span out) {
    struct io_uring_sqe *entry = next_entry(loop);
    io_uring_prep_send(entry, connection->fd, out.bytes, out.length, MSG_NOSIGNAL);
    entry->user_data = data_of(connection, SEND_SLOWLY);
    connection->under_way |= SENDING_SLOWLY;
}

static void cancel(struct loop *loop, uint64_t user_data) {
    struct io_uring_sqe *entry = next_entry(loop);
    io_uring_prep_cancel64(entry, user_data, 0);
    entry->flags |= IOSQE_CQE_SKIP_SUCCESS;
    entry->user_data = CANCEL;
}

/* By the socket that no signal replaces (stop.h). */
static void accept_next(struct loop *loop) {
    struct io_uring_sqe *entry = next_entry(loop);
    io_uring_prep_multishot_accept(entry, loop->server->listener.drain_fd, NULL, NULL,
                                   SOCK_CLOEXEC);
    entry->user_data = loop->accepting = ACCEPT;
}

static void wait_for_clients(struct loop *loop) {
    struct io_uring_sqe *entry = next_entry(loop);
    io_uring_prep_poll_add(entry, loop->server->listener.drain_fd, POLLIN);
    entry->user_data = loop->accepting = LISTEN;
}

static void watch_stop(struct loop *loop) {
    struct io_uring_sqe *entry = next_entry(loop);
    io_uring_prep_poll_add(entry, stop_fd(), POLLIN);
    entry->user_data = STOP;
}

/* For the one that is silent longest now. That it speaks is no reason to set it anew: it goes off
 * too early then, once in --idle-timeout, and not in every turn a timer is set and cleared. */
static void set_timer(struct loop *loop) {
    const struct connection *oldest = loop->connections.oldest;
    if (loop->is_timing || oldest == NULL)
        return;
    int64_t at_ns = oldest->active_ns + loop->server->options->idle_timeout_ms * NS_PER_MS;
    loop->deadline =
        (struct __kernel_timespec){.tv_sec = at_ns / NS_PER_S, .tv_nsec = at_ns % NS_PER_S};
    struct io_uring_sqe *entry = next_entry(loop);
    io_uring_prep_timeout(entry, &loop->deadline, 0, IORING_TIMEOUT_ABS);
    entry->user_data = TIMER;
    loop->is_timing = true;
}

/* ---- A connection ---- */

static bool is_sending_now(const struct connection *connection) {
    return connection->under_way & 1 << SEND;
}

/* Ends it, when nothing of it is under way any longer. */
static void finish(struct loop *loop, struct connection *connection) {
    if (!connection->is_over) {
        connection->is_over = true;
        connections_touch(&loop->connections, connection, loop->now_ns);
        if (connection->under_way & RECEIVING)
            cancel(loop, data_of(connection, RECEIVE));
        if (connection->under_way & SENDING_SLOWLY)
            cancel(loop, data_of(connection, SEND_SLOWLY));
    }
    if (connection->under_way != 0) {
        loop->is_hurried |= is_sending_now(connection);
        return;
    }
    surplus_release(&connection->surplus);
    connections_remove(&loop->connections, connection);
}

static void lose(struct loop *loop, struct connection *connection) {
    answer_lost(loop->server, connection->fd, &connection->exchange);
    finish(loop, connection);
}

/* When its output is sent, there is something to do at once. */
static bool has_more(const struct connection *connection) {
    return !exchange_is_answered(&connection->exchange) || connection->surplus != NULL ||
           connection->is_shut;
}

/* All that can be done now, unless replies are under way. is_alive: what came was a sign of life,
 * and not only more of a request that is still not complete. */
static void advance(struct loop *loop, struct connection *connection, bool is_alive) {
    struct exchange *exchange = &connection->exchange;
    surplus_pour(&connection->surplus, exchange);
    if (connection->is_shut && connection->surplus == NULL) {
        connection->is_shut = false;
        exchange_received(exchange, 0);
    }
    unsigned answered = answer_requests(loop->server, connection->fd, exchange, REQUEST_BATCH);
    if (is_alive || answered > 0)
        connections_touch(&loop->connections, connection, loop->now_ns);
    /* It goes on when that is sent, after others had their turn. */
    struct span out = exchange_output(exchange);
    if (out.length > 0)
        send_now(loop, connection, out);
    if (out.length > 0 && has_more(connection))
        loop->is_hurried = true;
    else if (exchange_is_done(exchange))
        finish(loop, connection);
    else if (!(connection->under_way & RECEIVING))
        receive(loop, connection, false);
}

static void received(struct loop *loop, struct connection *connection, int result, uint32_t flags) {
    bool was_partial = exchange_is_partial(&connection->exchange), is_kept = true;
    if (!(flags & IORING_CQE_F_MORE))
        connection->under_way &= (uint8_t)~RECEIVING;
    if (flags & IORING_CQE_F_BUFFER) {
        if (result > 0 && !connection->is_over)
            is_kept = surplus_keep(&connection->surplus, &connection->exchange,
                                   uring_buffer(&loop->uring, flags), (size_t)result);
        uring_give_back(&loop->uring, flags);
    }
    if (connection->is_over) {
        finish(loop, connection);
    } else if (!is_kept ||
               (result < 0 && result != -ENOBUFS && result != -ECANCELED && result != -EINTR)) {
        lose(loop, connection);
    } else {
        connection->is_shut |= result == 0;
        loop->is_hurried |= is_sending_now(connection);
        if (!(connection->under_way & SENDING))
            advance(loop, connection, !was_partial);
        else if (surplus_length(connection->surplus) > SURPLUS_LIMIT &&
                 connection->under_way & RECEIVING)
            cancel(loop, data_of(connection, RECEIVE)); /* until that is answered */
    }
}

static void sent(struct loop *loop, struct connection *connection, int result) {
    bool is_slow = connection->under_way & SENDING_SLOWLY;
    connection->under_way &= (uint8_t)~SENDING;
    if (connection->is_over) {
        finish(loop, connection);
    } else if (result < 0 && result != -EAGAIN && result != -EINTR) {
        lose(loop, connection);
    } else {
        exchange_sent(&connection->exchange, result > 0 ? (size_t)result : 0);
        struct span left = exchange_output(&connection->exchange);
        if (is_slow) /* what is sent at once was answered just now */
            connections_touch(&loop->connections, connection, loop->now_ns);
        if (left.length > 0)
            send_slowly(loop, connection, left);
        else if (has_more(connection) || !(connection->under_way & RECEIVING))
            advance(loop, connection, true);
    }
}

static void time_out(struct loop *loop, struct connection *connection) {
    if (connection->under_way & SENDING) { /* it takes nothing; and its bytes are not ours now */
        log_connection(loop->server, connection->fd, "idle for too long");
        finish(loop, connection);
    } else {
        answer_timeout(loop->server, connection->fd, &connection->exchange);
        advance(loop, connection, true);
    }
}

/* ---- The loop ---- */

static void begin(struct loop *loop, int fd) {
    struct connection *connection = connections_add(&loop->connections, fd, loop->now_ns);
    if (connection != NULL)
        receive(loop, connection, true);
    else
        listener_refuse(loop->server, fd);
}

/* Without the ring: when it has failed to, and when the server stops. */
static void accept_waiting(struct loop *loop, int limit) {
    int fd;
    while (limit-- > 0 && (fd = listener_accept(loop->server)) >= 0)
        begin(loop, fd);
}

/* A multishot accept ends when it fails. The listener knows what to do about that, and until
 * somebody waits there again there is nothing to do: with no descriptor left an accept would fail
 * again at once. */
static void accepted(struct loop *loop, int result, uint32_t flags) {
    int fd = result >= 0 ? listener_welcome(loop->server, result) : result;
    if (fd >= 0)
        begin(loop, fd);
    if (flags & IORING_CQE_F_MORE)
        return;
    loop->accepting = 0;
    if (stop_is_requested())
        return;
    if (result >= 0)
        accept_next(loop);
    else
        wait_for_clients(loop);
}

static void clients_wait(struct loop *loop) {
    loop->accepting = 0;
    if (stop_is_requested())
        return;
    accept_waiting(loop, ACCEPT_BATCH);
    accept_next(loop);
}

static void close_silent(struct loop *loop) {
    int64_t limit_ms = loop->server->options->idle_timeout_ms;
    while (connections_wait_ms(&loop->connections, loop->now_ns, limit_ms) == 0) {
        struct connection *oldest = loop->connections.oldest;
        connections_touch(&loop->connections, oldest, loop->now_ns);
        if (!oldest->is_over)
            time_out(loop, oldest);
    }
}

static enum operation operation_of(const char *data) {
    return (enum operation)((uintptr_t)data & OPERATION_MASK);
}

static struct connection *connection_of(char *data) {
    return (struct connection *)(data - operation_of(data));
}

/* What was sent with the last wait: all of it, but where a completion says otherwise. */
static void settle(struct loop *loop) {
    struct io_uring *ring = &loop->uring.ring;
    struct io_uring_cqe *completion;
    unsigned head;
    io_uring_for_each_cqe(ring, head, completion) {
        char *data = io_uring_cqe_get_data(completion);
        if (operation_of(data) == SEND)
            connection_of(data)->sent = completion->res;
    }
    /* In the rare case that not all was taken, or not all is told yet, the rest is known later; but
     * what is told now will not be told again. */
    loop->is_hurried = io_uring_sq_ready(ring) > 0 || io_uring_cq_has_overflow(ring);
    if (loop->is_hurried)
        return;
    struct connection *next, *connection = loop->sending;
    loop->sending = NULL;
    for (; connection != NULL; connection = next) {
        next = connection->next_again;
        sent(loop, connection, connection->sent);
    }
}

static void complete(struct loop *loop, char *data, int result, uint32_t flags) {
    struct connection *connection = connection_of(data);
    switch (operation_of(data)) {
    case RECEIVE:
        received(loop, connection, result, flags);
        break;
    case SEND_SLOWLY:
        sent(loop, connection, result);
        break;
    case ACCEPT:
        accepted(loop, result, flags);
        break;
    case LISTEN:
        clients_wait(loop);
        break;
    case TIMER:
        loop->is_timing = false;
        close_silent(loop);
        break;
    default:
        break;
    }
}

/* The work may have taken long, and nobody is silent while it is done for him. */
static void note_answered(struct loop *loop) {
    if (loop->sending != NULL)
        loop->now_ns = clock_monotonic_ns();
    for (struct connection *c = loop->sending; c != NULL; c = c->next_again)
        c->active_ns = loop->now_ns;
}

/* One wait, of wait_ms at most (-1: without end), and all that came of it. */
static void turn(struct loop *loop, int wait_ms) {
    struct io_uring *ring = &loop->uring.ring;
    struct __kernel_timespec limit = {.tv_sec = wait_ms / 1000,
                                      .tv_nsec = wait_ms % 1000 * NS_PER_MS};
    struct io_uring_cqe *completion;
    note_answered(loop);
    set_timer(loop);
    int error = loop->is_hurried ? io_uring_submit_and_get_events(ring)
                : wait_ms < 0
                    ? io_uring_submit_and_wait(ring, 1)
                    : io_uring_submit_and_wait_timeout(ring, &completion, 1, &limit, NULL);
    if (error < 0 && error != -EINTR && error != -ETIME && error != -EAGAIN && error != -EBUSY)
        loop->error = error;
    loop->now_ns = clock_monotonic_ns();
    unsigned ready = io_uring_cq_ready(ring); /* what completes meanwhile waits for the next turn */
    settle(loop);
    for (; ready > 0; ready--) {
        if (io_uring_peek_cqe(ring, &completion) != 0)
            break;
        char *data = io_uring_cqe_get_data(completion);
        int result = completion->res;
        uint32_t flags = completion->flags;
        io_uring_cqe_seen(ring, completion);
        complete(loop, data, result, flags);
    }
}

/* Accepts those who wait, then reads nothing beyond what has come already, and ends when all of it
 * is answered, or when the time for that is over. */
static void drain(struct loop *loop) {
    if (loop->accepting != 0)
        cancel(loop, loop->accepting);
    while (loop->accepting != 0 && loop->error == 0)
        turn(loop, stop_left_ms());
    accept_waiting(loop, CONNECTION_LIMIT);
    connections_shut_reading(&loop->connections);
    while (loop->connections.count > 0 && stop_left_ms() > 0 && loop->error == 0)
        turn(loop, stop_left_ms());
}

static int run(struct server *server) {
    struct loop loop = {.server = server, .connections = connections_of(server)};
    int error = uring_open(&loop.uring);
    server_is_open(server);
    if (error != 0)
        return error;
    listener_set_nonblocking(&server->listener);
    accept_next(&loop);
    watch_stop(&loop);
    while (!stop_is_requested() && loop.error == 0)
        turn(&loop, -1);
    if (loop.error == 0)
        drain(&loop);
    uring_close(&loop.uring);
    while (loop.connections.oldest != NULL) {
        surplus_release(&loop.connections.oldest->surplus);
        connections_remove(&loop.connections, loop.connections.oldest);
    }
    return loop.error;
}

static int run_reactors(struct server *server) {
    return reactors_run(server, run);
}

const struct design design_uring = {
    .name = "uring",
    .summary = "one io_uring: multishot accept and receive, provided buffers",
    .uses_rings = true,
    .missing = uring_missing,
    .run = run,
};

const struct design design_uring_reactors = {
    .name = "uring-reactors",
    .summary = "one io_uring per worker, SO_REUSEPORT",
    .workers = ONE_PER_CPU,
    .shares_port = true,
    .uses_rings = true,
    .missing = uring_missing,
    .run = run_reactors,
};

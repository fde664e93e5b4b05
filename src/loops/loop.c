#include "loops/loop.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/hot.h"
#include "base/limits.h"
#include "connection/accept.h"
#include "connection/answer.h"
#include "connection/close_connection.h"
#include "connection/idle_timeout.h"
#include "lifecycle/stop.h"

#include <errno.h>

enum { WAIT_FAILURE_MS = 5000 }; /* if waits keep failing for so long, the server ends */

void loop_add_client(struct loop *loop, int fd) {
    struct connection *connection = NULL;
    if (loop->fd_limit == 0 || fd < loop->fd_limit)
        connection = connections_add(&loop->connections, fd, loop->now_ns);
    if (connection != NULL)
        loop->kind->begin(loop, connection);
    else
        listener_refuse(loop->server, fd);
}

int loop_accept(struct loop *loop, int limit) {
    int fd, count = 0;
    for (; count < limit && (fd = listener_accept(loop->server)) >= 0; count++)
        loop_add_client(loop, fd);
    return count;
}

void loop_serve_later(struct loop *loop, struct connection *connection) {
    if (connection->is_queued)
        return;
    connection->is_queued = true;
    connection->next_queued = NULL;
    if (loop->queued == NULL)
        loop->queued = connection;
    else
        loop->last_queued->next_queued = connection;
    loop->last_queued = connection;
}

void loop_serve_queued(struct loop *loop) {
    const struct connection *last = loop->last_queued;
    const int64_t end_ns = loop->queued != NULL ? clock_monotonic_ns() + TURN_US * NS_PER_US : 0;
    for (struct connection *connection; (connection = loop->queued) != NULL;) {
        bool is_last = connection == last;
        loop->queued = connection->next_queued;
        connection->is_queued = false;
        loop->kind->serve(loop, connection);
        if (is_last || clock_monotonic_ns() >= end_ns)
            break;
    }
}

HOT int loop_waited(struct loop *loop, int error) {
    loop->now_ns = clock_monotonic_ns();
    if (error == 0 || error == -EINTR) {
        loop->failing_since_ns = 0;
        return 0;
    }
    if (loop->failing_since_ns == 0)
        loop->failing_since_ns = loop->now_ns;
    if (loop->now_ns - loop->failing_since_ns > WAIT_FAILURE_MS * (int64_t)NS_PER_MS)
        return error;
    back_off();
    return 0;
}

int loop_idle_ms(const struct loop *loop) {
    int64_t deadline_ns = connections_deadline_ns(&loop->connections);
    return deadline_ns == INT64_MAX ? -1 : idle_left_ms(deadline_ns, loop->now_ns);
}

int loop_wait_ms(const struct loop *loop, int wait_ms) {
    int idle_ms = loop_idle_ms(loop);
    return wait_ms < 0 || (idle_ms >= 0 && idle_ms < wait_ms) ? idle_ms : wait_ms;
}

/* A client is not late if the loop was: what has arrived is read first. Only once for a request
 * that has begun, so that sending it byte by byte gains nothing. */
static bool must_spare(const struct connection *connection) {
    const struct exchange *exchange = &connection->exchange;
    return exchange_output(exchange).length == 0 &&
           !(connection->was_spared && exchange_is_partial(exchange)) &&
           idle_input_waits(connection->fd);
}

/* Touches each one first: a connection that is not closed moves to the end of the list. */
static void close_idle(struct loop *loop) {
    while (loop_idle_ms(loop) == 0) {
        struct connection *leaving = loop->connections.leaving.oldest;
        if (leaving != NULL && leaving->active_ns + LEAVING_MS * NS_PER_MS <= loop->now_ns) {
            connections_leave(&loop->connections, leaving, loop->now_ns);
            loop->kind->time_out(loop, leaving);
            continue;
        }
        struct connection *oldest = loop->connections.open.oldest;
        bool is_spared = must_spare(oldest);
        connections_touch(&loop->connections, oldest, loop->now_ns);
        oldest->was_spared = is_spared;
        if (!is_spared)
            loop->kind->time_out(loop, oldest);
        else if (loop->kind->spare != NULL)
            loop->kind->spare(loop, oldest);
    }
}

static int turn(struct loop *loop, int wait_ms) {
    int error = loop->kind->turn(loop, wait_ms);
    if (error == 0)
        close_idle(loop);
    return error;
}

/* Serves the remaining connections for left_ms. Returns 0 or -errno. */
static int serve_last(struct loop *loop, int (*left_ms)(void)) {
    int error = 0;
    while (loop->connections.count > 0 && left_ms() > 0 && error == 0)
        error = turn(loop, left_ms());
    return error;
}

/* Accepts the backlog, reads from all connections for HEARING_S, then only what has already
 * arrived. Returns when everything is answered, or at the drain limit. */
static int drain(struct loop *loop) {
    loop->kind->stop_accepting(loop);
    loop_accept(loop, CONNECTION_LIMIT);
    int error = serve_last(loop, stop_hearing_ms);
    loop->kind->end_reading(loop);
    return error == 0 ? serve_last(loop, stop_left_ms) : error;
}

static int serve(struct loop *loop) {
    int error = 0;
    while (!stop_is_requested() && error == 0)
        error = turn(loop, -1);
    return error == 0 ? drain(loop) : error;
}

int loop_run(struct loop *loop) {
    loop->connections = connections_of(loop->server, loop->kind->connection_size);
    loop->now_ns = clock_monotonic_ns();
    listener_set_nonblocking(&loop->server->listener);
    int error = loop->kind->open(loop);
    if (loop->opening != NULL) {
        if (error != 0)
            loop->opening->error = error;
        pthread_barrier_wait(&loop->opening->all);
    }
    if (error != 0)
        return error;
    error = serve(loop);
    loop->kind->close(loop);
    for (struct connection *left; (left = loop->connections.open.oldest) != NULL ||
                                  (left = loop->connections.leaving.oldest) != NULL;) {
        answer_reset(left->fd, &left->exchange); /* past the drain limit */
        connections_remove(&loop->connections, left);
    }
    return error;
}

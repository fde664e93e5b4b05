#include "server/loops/loop.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/hot.h"
#include "base/limits.h"
#include "server/connection/accept.h"
#include "server/connection/answer.h"
#include "server/connection/close_connection.h"
#include "server/connection/idle_timeout.h"
#include "server/stop.h"

#include <errno.h>

enum { WAIT_FAILURE_MS = 5000 }; /* if waits keep failing for so long, the server ends */

int loop_open(struct loop *loop, size_t connection_size, int error) {
    connections_open(&loop->connections, loop->server, connection_size);
    loop->now_ns = clock_monotonic_ns();
    listener_set_nonblocking(&loop->server->listener);
    if (loop->opening != NULL) {
        if (error != 0)
            loop->opening->error = error;
        pthread_barrier_wait(&loop->opening->all);
    }
    return error;
}

void loop_close(struct loop *loop) {
    for (struct connection *left; (left = loop->connections.open.oldest) != NULL ||
                                  (left = loop->connections.leaving.oldest) != NULL;) {
        answer_reset(left->fd, &left->exchange);
        connections_remove(&loop->connections, left);
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

struct connection *loop_add_client(struct loop *loop, int fd) {
    struct connection *connection = NULL;
    if (loop->fd_limit == 0 || fd < loop->fd_limit)
        connection = connections_add(&loop->connections, fd, loop->now_ns);
    if (connection == NULL)
        listener_refuse(loop->server, fd);
    return connection;
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

void loop_serve_queued(struct loop *loop,
                       void (*serve)(struct loop *loop, struct connection *connection)) {
    const struct connection *last = loop->last_queued;
    const int64_t end_ns = loop->queued != NULL ? clock_monotonic_ns() + TURN_US * NS_PER_US : 0;
    for (struct connection *connection; (connection = loop->queued) != NULL;) {
        bool is_last = connection == last;
        loop->queued = connection->next_queued;
        connection->is_queued = false;
        serve(loop, connection);
        if (is_last || clock_monotonic_ns() >= end_ns)
            break;
    }
}

/* A client is not late if the loop was: what has arrived is read first. Only once for a request
 * that has begun, so that sending it byte by byte gains nothing. */
static bool must_spare(const struct connection *connection) {
    const struct exchange *exchange = &connection->exchange;
    return !connection->awaits_worker && exchange_output(exchange).length == 0 &&
           !(connection->was_spared && exchange_is_partial(exchange)) &&
           idle_input_waits(connection->fd);
}

static int idle_ms(const struct loop *loop) {
    int64_t deadline_ns = connections_deadline_ns(&loop->connections);
    return deadline_ns == INT64_MAX ? -1 : idle_left_ms(deadline_ns, loop->now_ns);
}

/* Touches it first: a connection that is not closed moves to the end of the list. */
struct connection *loop_next_late(struct loop *loop) {
    if (idle_ms(loop) != 0)
        return NULL;
    struct connection *leaving = loop->connections.leaving.oldest;
    if (leaving != NULL && leaving->active_ns + LEAVING_MS * NS_PER_MS <= loop->now_ns) {
        connections_leave(&loop->connections, leaving, loop->now_ns);
        leaving->was_spared = false;
        return leaving;
    }
    struct connection *oldest = loop->connections.open.oldest;
    const bool is_spared = must_spare(oldest);
    connections_touch(&loop->connections, oldest, loop->now_ns);
    oldest->was_spared = is_spared;
    return oldest;
}

int loop_wait_ms(const struct loop *loop) {
    const int late_ms = idle_ms(loop), drain_ms = loop_drain_ms(loop);
    if (loop->queued != NULL)
        return 0;
    return drain_ms < 0 || (late_ms >= 0 && late_ms < drain_ms) ? late_ms : drain_ms;
}

bool loop_must_stop_accepting(struct loop *loop) {
    const bool must = !loop->is_draining;
    loop->is_draining = true;
    return must;
}

bool loop_must_end_reading(struct loop *loop) {
    const bool must = !loop->has_ended_reading && stop_hearing_ms() == 0;
    loop->has_ended_reading |= must;
    return must;
}

bool loop_is_over(const struct loop *loop) {
    return loop->connections.count == 0 || stop_is_over();
}

int loop_drain_ms(const struct loop *loop) {
    if (!loop->is_draining)
        return -1;
    return loop->has_ended_reading ? stop_left_ms() : stop_hearing_ms();
}

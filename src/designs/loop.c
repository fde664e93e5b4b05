#include "designs/loop.h"

#include "base/clock.h"
#include "base/limits.h"
#include "server/log.h"
#include "server/stop.h"

/* That nobody else waits says only a call that fails, and where clients come one at a time it would
 * fail for each. After such a one so many are accepted without it: if more wait, the next wait says
 * so at once. */
enum { SINGLES = 15 };

static void drop(struct loop *loop, struct connection *connection) {
    if (connection->is_watched)
        loop->poller->remove(loop, connection);
    connections_remove(&loop->connections, connection);
}

void loop_serve_later(struct loop *loop, struct connection *connection) {
    if (connection->is_queued)
        return;
    connection->is_queued = true;
    connection->next_again = loop->again;
    loop->again = connection;
}

static void watch(struct loop *loop, struct connection *connection, enum interest interest) {
    connection->interest = interest;
    connection->is_watched = loop->poller->add(loop, connection) == 0;
    if (connection->is_watched)
        return;
    log_connection(loop->server, connection->fd, "cannot be watched");
    connections_remove(&loop->connections, connection);
}

/* What a turn left to wait for. The poller is told only what it does not know yet; and of a
 * connection only when there is something of it to wait for: a client that asks once and leaves, as
 * many do, is gone by then. */
static void apply(struct loop *loop, struct connection *connection, enum interest interest) {
    if (interest == INTEREST_AGAIN) {
        loop_serve_later(loop, connection);
    } else if (interest == INTEREST_NONE) {
        /* One that waits for its turn is in a list of which nobody else knows: it goes then. */
        if (connection->is_queued)
            connection->is_over = true;
        else
            drop(loop, connection);
    } else if (!connection->is_watched) {
        if (!connection->is_busy) /* else its turn comes when that is answered */
            watch(loop, connection, interest);
    } else if (interest != connection->interest) {
        connection->interest = interest;
        loop->poller->change(loop, connection);
    }
}

enum interest loop_converse(struct loop *loop, struct connection *connection) {
    return readiness_serve(loop->server, &loop->connections, connection, loop->now_ns);
}

void loop_serve(struct loop *loop, struct connection *connection) {
    if (!connection->is_over)
        apply(loop, connection, loop->serve(loop, connection));
}

static void begin(struct loop *loop, struct connection *connection) {
    connection->can_read = true;
    loop_serve(loop, connection);
}

/* Returns how many. */
static int accept_waiting(struct loop *loop, int limit) {
    int fd, count = 0;
    for (; count < limit && (fd = listener_accept(loop->server)) >= 0; count++) {
        struct connection *connection = NULL;
        if (loop->fd_limit == 0 || fd < loop->fd_limit)
            connection = connections_add(&loop->connections, fd, loop->now_ns);
        if (connection != NULL)
            begin(loop, connection);
        else
            listener_refuse(loop->server, fd);
    }
    return count;
}

void loop_accept(struct loop *loop) {
    if (loop->singles > 0) {
        loop->singles--;
        accept_waiting(loop, 1);
    } else if (accept_waiting(loop, ACCEPT_BATCH) <= 1) {
        loop->singles = SINGLES;
    }
}

/* Whoever gets into the list meanwhile is served after the next wait. */
static void serve_again(struct loop *loop) {
    struct connection *next, *connection = loop->again;
    loop->again = NULL;
    for (; connection != NULL; connection = next) {
        next = connection->next_again;
        connection->is_queued = false;
        if (connection->is_over)
            drop(loop, connection);
        else
            loop_serve(loop, connection);
    }
}

static void close_silent(struct loop *loop) {
    int64_t limit_ms = loop->server->options->idle_timeout_ms;
    while (connections_wait_ms(&loop->connections, loop->now_ns, limit_ms) == 0) {
        struct connection *oldest = loop->connections.oldest;
        connections_touch(&loop->connections, oldest, loop->now_ns);
        if (!oldest->is_busy) /* else it is we who let it wait */
            apply(loop, oldest, readiness_time_out(loop->server, oldest));
    }
}

/* One wait, of wait_ms at most (-1: without end), and all that came of it. Returns 0 or -errno. */
static int turn(struct loop *loop, int wait_ms) {
    int error = loop->poller->wait(loop, loop->again != NULL ? 0 : wait_ms);
    if (error != 0)
        return error;
    loop->now_ns = clock_monotonic_ns();
    loop->poller->dispatch(loop);
    serve_again(loop);
    close_silent(loop);
    return 0;
}

static int until_stopped(struct loop *loop) {
    int64_t limit_ms = loop->server->options->idle_timeout_ms;
    int error = 0;
    while (!stop_is_requested() && error == 0)
        error = turn(loop, connections_wait_ms(&loop->connections, loop->now_ns, limit_ms));
    return error;
}

/* Accepts those who wait, then reads nothing beyond what has come already, and ends when all of it
 * is answered, or when the time for that is over. */
static int drain(struct loop *loop) {
    int error = 0;
    loop->poller->ignore_listener(loop);
    accept_waiting(loop, CONNECTION_LIMIT);
    connections_shut_reading(&loop->connections);
    while (loop->connections.count > 0 && stop_left_ms() > 0 && error == 0)
        error = turn(loop, stop_left_ms());
    return error;
}

int loop_run(struct loop *loop) {
    loop->connections = connections_of(loop->server);
    loop->now_ns = clock_monotonic_ns();
    listener_set_nonblocking(&loop->server->listener);
    int error = loop->poller->open(loop);
    server_is_open(loop->server);
    if (error != 0)
        return error;
    error = until_stopped(loop);
    if (error == 0)
        error = drain(loop);
    loop->poller->close(loop);
    while (loop->connections.oldest != NULL)
        connections_remove(&loop->connections, loop->connections.oldest);
    return error;
}

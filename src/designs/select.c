/* select: one event loop on select.
 *
 * Before each wait the two sets are copied to the kernel, which walks them up to the highest
 * descriptor, and so do we: every turn costs in proportion to all connections, however few are
 * ready. A set has FD_SETSIZE bits; a connection beyond is refused, for setting its bit would write
 * outside the set. */
#include "base/clock.h"
#include "base/limits.h"
#include "designs/design.h"
#include "designs/readiness.h"
#include "server/stop.h"

#include <assert.h>
#include <errno.h>
#include <sys/select.h>

struct loop {
    struct server *server;
    struct connections connections;
    struct connection *by_fd[FD_SETSIZE];
    fd_set reading, writing; /* what each connection waits for */
    int highest;             /* of all descriptors in the sets */
};

static void watch(struct loop *loop, int fd, enum interest interest) {
    FD_CLR(fd, &loop->reading);
    FD_CLR(fd, &loop->writing);
    if (interest == INTEREST_READ)
        FD_SET(fd, &loop->reading);
    else if (interest == INTEREST_WRITE)
        FD_SET(fd, &loop->writing);
    if (fd > loop->highest)
        loop->highest = fd;
}

static void apply(struct loop *loop, struct connection *connection, enum interest interest) {
    int fd = connection->fd;
    watch(loop, fd, interest);
    if (interest != INTEREST_NONE)
        return;
    loop->by_fd[fd] = NULL;
    connections_remove(&loop->connections, connection);
    while (loop->highest >= 0 && !FD_ISSET(loop->highest, &loop->reading) &&
           !FD_ISSET(loop->highest, &loop->writing))
        loop->highest--;
}

static void accept_waiting(struct loop *loop, int limit) {
    int fd;
    while (limit-- > 0 && (fd = readiness_accept(loop->server, &loop->connections)) >= 0) {
        struct connection *connection = NULL;
        if (fd < FD_SETSIZE)
            connection = connections_add(&loop->connections, fd, clock_monotonic_ns());
        if (connection == NULL) {
            listener_refuse(loop->server, fd);
            continue;
        }
        stats_add(&loop->server->counts->connections);
        loop->by_fd[fd] = connection;
        watch(loop, fd, INTEREST_READ);
    }
}

static void serve_ready(struct loop *loop, const fd_set *readable, const fd_set *writable,
                        int ready) {
    for (int fd = 0; fd <= loop->highest && ready > 0; fd++) {
        bool can_read = FD_ISSET(fd, readable), can_write = FD_ISSET(fd, writable);
        ready -= can_read + can_write;
        struct connection *connection = loop->by_fd[fd];
        if (connection == NULL || (!can_read && !can_write))
            continue;
        apply(loop, connection,
              readiness_serve(loop->server, &loop->connections, connection, can_read));
    }
}

static void close_silent(struct loop *loop) {
    int64_t limit_ms = loop->server->options->idle_timeout_ms;
    while (connections_wait_ms(&loop->connections, clock_monotonic_ns(), limit_ms) == 0) {
        struct connection *oldest = loop->connections.oldest;
        apply(loop, oldest, readiness_time_out(loop->server, oldest));
    }
}

/* One wait, of wait_ms at most (-1: without end), and all that came of it. Returns 0 or -errno. */
static int turn(struct loop *loop, int wait_ms) {
    struct timeval timeout = {.tv_sec = wait_ms / 1000, .tv_usec = wait_ms % 1000 * 1000};
    fd_set readable = loop->reading, writable = loop->writing;
    int ready =
        select(loop->highest + 1, &readable, &writable, NULL, wait_ms >= 0 ? &timeout : NULL);
    if (ready < 0)
        return errno == EINTR ? 0 : -errno;
    if (FD_ISSET(loop->server->listener.fd, &readable))
        accept_waiting(loop, ACCEPT_BATCH);
    serve_ready(loop, &readable, &writable, ready);
    close_silent(loop);
    return 0;
}

static int until_stopped(struct loop *loop) {
    int64_t limit_ms = loop->server->options->idle_timeout_ms;
    int error = 0;
    while (!stop_is_requested() && error == 0)
        error = turn(loop, connections_wait_ms(&loop->connections, clock_monotonic_ns(), limit_ms));
    return error;
}

/* Accepts those who wait, then reads nothing beyond what has come already, and ends when all of it
 * is answered, or when the time for that is over. */
static int drain(struct loop *loop) {
    int error = 0;
    watch(loop, loop->server->listener.fd, INTEREST_NONE);
    watch(loop, stop_fd(), INTEREST_NONE);
    accept_waiting(loop, CONNECTION_LIMIT);
    connections_shut_reading(&loop->connections);
    while (loop->connections.count > 0 && stop_left_ms() > 0 && error == 0)
        error = turn(loop, stop_left_ms());
    while (loop->connections.oldest != NULL)
        apply(loop, loop->connections.oldest, INTEREST_NONE);
    return error;
}

static int run(struct server *server) {
    struct loop loop = {.server = server, .highest = -1};
    FD_ZERO(&loop.reading);
    FD_ZERO(&loop.writing);
    /* Whoever started us may have left many descriptors open. */
    if (server->listener.fd >= FD_SETSIZE || stop_fd() >= FD_SETSIZE)
        return -EMFILE;
    listener_set_nonblocking(&server->listener);
    watch(&loop, server->listener.fd, INTEREST_READ);
    watch(&loop, stop_fd(), INTEREST_READ);
    int error = until_stopped(&loop);
    return error == 0 ? drain(&loop) : error;
}

const struct design design_select = {
    .name = "select",
    .summary = "one event loop on select",
    .run = run,
};

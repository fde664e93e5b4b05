#include "server/loops/connections.h"

#include "server/connection/close_connection.h"
#include "server/connection/idle_timeout.h"
#include "server/connection/log.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static struct connection_list *list_of(struct connections *connections,
                                       const struct connection *connection) {
    return connection->is_leaving ? &connections->leaving : &connections->open;
}

static void append(struct connections *connections, struct connection *connection) {
    struct connection_list *list = list_of(connections, connection);
    connection->listed_ns = connection->active_ns;
    connection->newer = NULL;
    connection->older = list->newest;
    if (list->newest != NULL)
        list->newest->newer = connection;
    else
        list->oldest = connection;
    list->newest = connection;
}

static void unlink_from(struct connections *connections, struct connection *connection) {
    struct connection_list *list = list_of(connections, connection);
    if (connection->older != NULL)
        connection->older->newer = connection->newer;
    else
        list->oldest = connection->newer;
    if (connection->newer != NULL)
        connection->newer->older = connection->older;
    else
        list->newest = connection->older;
}

void connections_open(struct connections *connections, struct server *server, size_t size) {
    connections->server = server;
    connections->size = size;
    connections->buffers.budget = server->budget;
}

/* All workers share one counter, but for worker processes: what one of them counts must end with
 * it. Each increments first and checks afterwards, so that together they never exceed the limit. */
static bool enter(const struct server *server) {
    if (server->listener.is_borrowed) {
        atomic_fetch_add_explicit(&server->counts->open, 1, memory_order_seq_cst);
        return stats_open(server->stats) <= server->options->max_connections;
    }
    uint64_t before = atomic_fetch_add_explicit(&server->stats->open, 1, memory_order_relaxed);
    return before < server->options->max_connections;
}

static void leave(const struct server *server) {
    stats_subtract(server->listener.is_borrowed ? &server->counts->open : &server->stats->open);
}

struct connection *connections_add(struct connections *connections, int fd, int64_t now_ns) {
    struct connection *connection =
        enter(connections->server) ? calloc(1, connections->size) : NULL;
    if (connection == NULL) {
        leave(connections->server);
        return NULL;
    }
    connection->fd = fd;
    connection->active_ns = now_ns;
    exchange_open(&connection->exchange, &connections->buffers,
                  &connections->server->options->access.admission);
    append(connections, connection);
    connections->count++;
    stats_add(&connections->server->counts->connections);
    return connection;
}

void connections_touch(struct connections *connections, struct connection *connection,
                       int64_t now_ns) {
    connection->active_ns = now_ns;
    connection->was_spared = false;
    if (now_ns - connection->listed_ns <= idle_tolerance_ns(connections->server->options))
        return;
    unlink_from(connections, connection);
    append(connections, connection);
}

void connections_leave(struct connections *connections, struct connection *connection,
                       int64_t now_ns) {
    unlink_from(connections, connection);
    connection->discard_left = connection->is_leaving ? connection->discard_left : LEAVING_BYTES;
    connection->is_leaving = true;
    connection->active_ns = now_ns;
    append(connections, connection);
}

int64_t connections_deadline_ns(const struct connections *connections) {
    const struct connection *idle = connections->open.oldest;
    const struct connection *leaving = connections->leaving.oldest;
    int64_t idle_ns =
        idle != NULL ? idle_deadline_ns(connections->server->options, idle->active_ns) : INT64_MAX;
    int64_t left_ns =
        leaving != NULL ? leaving->active_ns + LEAVING_MS * (int64_t)NS_PER_MS : INT64_MAX;
    return idle_ns < left_ns ? idle_ns : left_ns;
}

void connections_remove(struct connections *connections, struct connection *connection) {
    unlink_from(connections, connection);
    if (connections->forget != NULL)
        connections->forget(connections, connection);
    log_disconnect(connections->server, connection->fd);
    close(connection->fd);
    exchange_close(&connection->exchange);
    free(connection);
    if (--connections->count == 0)
        buffer_pool_close(&connections->buffers);
    leave(connections->server);
}

void connections_shut_reading(const struct connections *connections) {
    for (const struct connection *c = connections->open.oldest; c != NULL; c = c->newer)
        shutdown(c->fd, SHUT_RD);
}

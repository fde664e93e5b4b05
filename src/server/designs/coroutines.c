/* coroutines: a coroutine per connection on one epoll loop.
 *
 * Each connection is served by a function that reads like that of `thread-per-client`: receive,
 * answer, send, until it is over. Where a thread would block, the coroutine gives way to the loop,
 * which lets it go on when the socket is ready. A switch costs some 10 ns instead of a system call;
 * a connection costs a stack, of which two pages are touched. */
#include "server/connection/answer.h"
#include "server/connection/idle_timeout.h"
#include "server/design.h"
#include "server/loops/coroutine.h"
#include "server/loops/reactor.h"

#include <errno.h>

struct coroutine_loop {
    struct reactor reactor;
    struct coroutine_pool pool;
};

struct client {
    struct connection connection;
    struct loop *loop;
    struct coroutine *coroutine; /* NULL: before its first turn, and after its last */
};

/* Reads once. Returns 0 or -errno. */
static int receive(struct coroutine *self, struct client *client) {
    while (!client->connection.can_read)
        coroutine_yield(self, NEXT_READ);
    return turn_receive(&client->connection);
}

/* Sends all of it. Returns 0 or -errno. */
static int send_all(struct coroutine *self, struct client *client) {
    struct connection *connection = &client->connection;
    int error;
    while ((error = turn_send(connection)) == -EAGAIN) {
        if (idle_reply_is_late(&connection->exchange, client->loop->server->options,
                               client->loop->now_ns, &connection->unsent_since_ns))
            return -ETIMEDOUT;
        coroutine_yield(self, NEXT_WRITE);
    }
    return error;
}

/* Serves a connection to its end. */
static void serve(struct coroutine *self, void *argument) {
    struct client *client = argument;
    struct loop *loop = client->loop;
    struct connection *connection = &client->connection;
    struct exchange *exchange = &connection->exchange;
    int error = 0;
    while (error == 0 && !exchange_is_done(exchange)) {
        const bool was_partial = exchange_is_partial(exchange);
        unsigned answered = 1;
        error = receive(self, client);
        while (error == 0 && answered > 0) {
            answered = answer_requests(loop->server, connection->fd, exchange, REQUEST_BATCH,
                                       loop->now_ns);
            error = send_all(self, client);
            if (idle_restarts(was_partial, answered))
                connections_touch(&loop->connections, connection, loop->now_ns);
            if (error == 0 && answered > 0 && exchange_is_partial(exchange))
                coroutine_yield(self, NEXT_TURN); /* other connections first */
        }
        if (error == 0 && connection->can_read && !exchange_is_done(exchange))
            coroutine_yield(self, NEXT_TURN);
    }
    if (error == -ETIMEDOUT)
        turn_time_out(loop, connection);
    else if (error != 0)
        answer_lost(loop->server, connection->fd, exchange);
}

static void forget(struct connections *connections, struct connection *connection) {
    struct client *client = (struct client *)connection;
    struct coroutine_loop *self = connections->owner;
    if (client->coroutine != NULL)
        coroutine_free(&self->pool, client->coroutine);
    client->coroutine = NULL;
}

static enum next go_on(struct loop *loop, struct connection *connection) {
    struct coroutine_loop *self = (struct coroutine_loop *)loop;
    struct client *client = (struct client *)connection;
    client->loop = loop;
    if (client->coroutine == NULL)
        client->coroutine = coroutine_new(&self->pool, serve, client);
    const int next = client->coroutine != NULL ? coroutine_resume(client->coroutine) : -1;
    if (next >= 0)
        return (enum next)next;
    forget(&loop->connections, connection);
    return NEXT_CLOSE;
}

int coroutines_run(struct server *server, struct opening *opening) {
    struct coroutine_loop self = {.reactor = reactor_of(server)};
    self.reactor.loop.opening = opening;
    self.reactor.loop.connections = (struct connections){.owner = &self, .forget = forget};
    self.reactor.connection_size = sizeof(struct client);
    self.reactor.turn = go_on;
    const int error = epoll_run(&self.reactor);
    coroutine_pool_close(&self.pool);
    return error;
}

static int run(struct server *server) {
    return coroutines_run(server, NULL);
}

const struct design design_coroutines = {
    .name = "coroutines",
    .summary = "a coroutine per connection on one epoll loop",
    .missing = coroutine_missing,
    .run = run,
};

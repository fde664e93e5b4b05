/* coroutines: a coroutine per connection on one epoll loop.
 *
 * Each connection is served by a function that reads like that of `thread-per-client`: receive,
 * answer, send, until it is over. Where a thread would block, the coroutine gives way to the loop,
 * which lets it go on when the socket is ready, or when the time is over that a work waits: even
 * deep in a request, others are served. A switch costs 5 ns and no system call; glibc's
 * swapcontext, which makes one, 220 ns on the same machine. A connection costs a stack, of which
 * those pages stay in memory that its requests touched, two at least; with a page to guard it, that
 * is two of the 65,530 mappings that Linux allows a process by default. */
#include "base/clock.h"
#include "server/connection/answer.h"
#include "server/connection/idle_timeout.h"
#include "server/connection/log.h"
#include "server/design.h"
#include "server/loops/coroutine.h"
#include "server/loops/reactor.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

struct client {
    struct connection connection;
    struct coroutine_loop *loop;
    struct coroutine *coroutine; /* NULL: before its first turn, and after its last */
    int64_t due_ns;              /* while a work waits: until when, CLOCK_MONOTONIC */
    struct client *earlier, *later;
};

struct coroutine_loop {
    struct reactor reactor;
    struct coroutine_pool pool;
    struct client *first, *last; /* that wait, in the order of their ends */
};

static _Thread_local struct client *running;

/* Reads once. Returns 0 or -errno. */
static int receive(struct coroutine *self, struct client *client) {
    while (!client->connection.can_read)
        coroutine_yield(self, NEXT_READ);
    return turn_receive(&client->connection);
}

enum { LATE = 1 }; /* the client reads too slowly */

/* Sends all of it. Returns 0, LATE or -errno. */
static int send_all(struct coroutine *self, struct client *client) {
    struct loop *loop = &client->loop->reactor.loop;
    struct connection *connection = &client->connection;
    size_t left, before = 0; /* bytes */
    int error;
    for (; (error = turn_send(connection)) == -EAGAIN; before = left) {
        left = exchange_output(&connection->exchange).length;
        if (left < before)
            connections_touch(&loop->connections, connection, loop->now_ns);
        if (idle_reply_is_late(&connection->exchange, loop->server->options, loop->now_ns,
                               &connection->unsent_since_ns))
            return LATE;
        coroutine_yield(self, NEXT_WRITE);
    }
    return error;
}

/* Serves a connection to its end. */
static void serve(struct coroutine *self, void *argument) {
    struct client *client = argument;
    struct loop *loop = &client->loop->reactor.loop;
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
    if (error == LATE)
        turn_time_out(loop, connection);
    else if (error != 0)
        answer_lost(loop->server, connection->fd, exchange);
}

/* The timer is that of the client that waits the shortest. */
static void set_timer(const struct coroutine_loop *self) {
    struct itimerspec at = {.it_value = {0}};
    if (self->first != NULL)
        at.it_value = (struct timespec){.tv_sec = self->first->due_ns / NS_PER_S,
                                        .tv_nsec = self->first->due_ns % NS_PER_S};
    timerfd_settime(self->reactor.woken_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

/* In the middle of a request. Most wait as long as those before them. */
static void wait_until(int64_t until_ns) {
    struct client *client = running, *before = client->loop->last;
    struct coroutine_loop *self = client->loop;
    while (before != NULL && before->due_ns > until_ns)
        before = before->earlier;
    client->due_ns = until_ns;
    client->earlier = before;
    client->later = before != NULL ? before->later : self->first;
    *(before != NULL ? &before->later : &self->first) = client;
    *(client->later != NULL ? &client->later->earlier : &self->last) = client;
    if (before == NULL)
        set_timer(self);
    coroutine_yield(client->coroutine, NEXT_ANSWER);
}

/* The time is over that some wait. */
static void end_waits(struct reactor *reactor) {
    struct coroutine_loop *self = (struct coroutine_loop *)reactor;
    const int64_t now_ns = clock_monotonic_ns();
    for (struct client *client; (client = self->first) != NULL && client->due_ns <= now_ns;) {
        self->first = client->later;
        *(self->first != NULL ? &self->first->earlier : &self->last) = NULL;
        reactor_serve_later(reactor, &client->connection);
    }
    set_timer(self); /* which also makes it unreadable */
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
    client->loop = self;
    running = client;
    if (client->coroutine == NULL)
        client->coroutine = coroutine_new(&self->pool, serve, client);
    if (client->coroutine == NULL) {
        stats_add(&loop->server->stats->errors[ERROR_REFUSED]);
        log_connection(loop->server, connection->fd, "refused: no memory for a stack");
        return NEXT_CLOSE;
    }
    const int next = coroutine_resume(client->coroutine);
    if (next >= 0)
        return (enum next)next;
    forget(&loop->connections, connection);
    return NEXT_CLOSE;
}

static int open_timer(struct reactor *reactor, int epoll_fd) {
    (void)epoll_fd;
    reactor->woken_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    return reactor->woken_fd >= 0 ? 0 : -errno;
}

int coroutines_run(struct server *server, struct opening *opening) {
    struct coroutine_loop self = {.reactor = reactor_of(server)};
    self.reactor.loop.opening = opening;
    self.reactor.loop.connections = (struct connections){.owner = &self, .forget = forget};
    self.reactor.connection_size = sizeof(struct client);
    reactor_trigger_on_edges(&self.reactor);
    self.reactor.turn = go_on;
    self.reactor.prepare = open_timer;
    self.reactor.woken = end_waits;
    service_waits_by(wait_until);
    const int error = epoll_run(&self.reactor);
    service_waits_by(NULL);
    if (self.reactor.woken_fd >= 0)
        close(self.reactor.woken_fd);
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

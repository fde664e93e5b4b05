/* epoll-workers: one event loop, requests handed to a worker pool.
 *
 * The loop, on edge-triggered epoll, reads, writes and parses; each complete request goes to a pool
 * of threads, which do the work and hand the reply back. A request that blocks or computes for long
 * holds up one worker, not the loop. Each request costs two hand-overs: a lock and mostly a context
 * switch there, and another one back. */
#include "designs/epoll.h"
#include "designs/jobs.h"
#include "server/answer.h"
#include "server/design.h"

#include <errno.h>

struct workers_loop {
    struct epoll_loop epoll; /* first: this is a struct loop */
    struct jobs jobs;
    struct connection answered; /* stands for jobs.answered_fd in the set of epoll */
    struct server server;
};

/* Has its next request answered, if there is one. Returns 0 or -ENOMEM. */
static int ask(struct workers_loop *self, struct connection *connection) {
    struct exchange *exchange = &connection->exchange;
    struct job *job = jobs_new(&self->jobs);
    if (job == NULL)
        return -ENOMEM;
    job->is_first = exchange->dialect == DIALECT_UNKNOWN;
    if (!exchange_next(exchange, &job->request)) {
        jobs_release(&self->jobs, job);
        return 0;
    }
    job->connection = connection;
    connection->is_busy = true;
    jobs_ask(&self->jobs, job);
    return 0;
}

/* Sends what there is to be sent, then goes on to the next request. */
static enum interest go_on(struct workers_loop *self, struct connection *connection) {
    int error = readiness_send(connection);
    if (error == 0)
        error = ask(self, connection);
    return connection->is_busy ? INTEREST_READ : readiness_next(&self->server, connection, error);
}

static enum interest take_answered(struct workers_loop *self) {
    struct loop *loop = &self->epoll.loop;
    for (struct job *next, *job = jobs_take_answered(&self->jobs); job != NULL; job = next) {
        struct connection *connection = job->connection;
        next = job->next;
        connection->is_busy = false;
        answer_reply(job->server, connection->fd, &connection->exchange, &job->request, job->status,
                     &job->body);
        jobs_release(&self->jobs, job);
        connections_touch(&loop->connections, connection, loop->now_ns);
        loop_serve_later(loop, connection);
    }
    return INTEREST_READ;
}

/* What comes while a worker is busy with it is remembered (can_read) and read afterwards. */
static enum interest serve(struct loop *loop, struct connection *connection) {
    struct workers_loop *self = (struct workers_loop *)loop;
    if (connection == &self->answered)
        return take_answered(self);
    if (connection->is_busy)
        return INTEREST_READ;
    if (!exchange_is_partial(&connection->exchange))
        connections_touch(&loop->connections, connection, loop->now_ns);
    int error = readiness_receive(connection);
    return error == 0 ? go_on(self, connection) : readiness_next(&self->server, connection, error);
}

static int open_beside_jobs(struct loop *loop) {
    struct workers_loop *self = (struct workers_loop *)loop;
    int error = epoll_edge.open(loop);
    if (error == 0)
        error = epoll_edge.add(loop, &self->answered);
    if (error != 0)
        epoll_edge.close(loop);
    return error;
}

static int run(struct server *server) {
    struct workers_loop self = {.server = *server};
    struct poller poller = epoll_edge;
    poller.open = open_beside_jobs;
    self.epoll.loop = (struct loop){.poller = &poller, .serve = serve, .server = &self.server};
    self.server.counts = &server->stats->loop;
    int error = jobs_open(&self.jobs, server);
    if (error != 0)
        return error;
    self.answered = (struct connection){.fd = self.jobs.answered_fd, .is_watched = true};
    error = ready_say(server);
    if (error == 0)
        error = loop_run(&self.epoll.loop);
    jobs_close(&self.jobs);
    return error;
}

const struct design design_epoll_workers = {
    .name = "epoll-workers",
    .summary = "one event loop on epoll, requests handed to a pool of threads",
    .workers = 16,
    .run = run,
};

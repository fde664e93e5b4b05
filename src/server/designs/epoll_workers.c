/* epoll-workers: one event loop, requests handed to a worker pool.
 *
 * The loop, on edge-triggered epoll, reads, parses and writes; a pool of threads does the work of
 * each complete request. A request that blocks or computes for long holds up one worker, not the
 * loop. Each request is handed over twice, which costs a lock and usually a context switch each
 * time. Where workers that compute share a CPU with the loop, it is one thread among them: the more
 * of them, the longer it waits for its turn, and a short request for the loop. */
#include "server/connection/answer.h"
#include "server/connection/idle_timeout.h"
#include "server/design.h"
#include "server/loops/reactor.h"
#include "server/workers/jobs.h"

#include <errno.h>

struct workers_loop {
    struct reactor reactor;
    struct jobs jobs;
};

/* Hands the next request to a worker. Returns 1, 0 if there is none, or -ENOMEM. */
static int submit_next(struct workers_loop *self, struct connection *connection) {
    struct exchange *exchange = &connection->exchange;
    struct jobs *jobs = &self->jobs;
    struct job *job = jobs_new(jobs);
    if (job == NULL)
        return -ENOMEM;
    if (!answer_next(self->reactor.loop.server, connection->fd, exchange, &job->request)) {
        jobs_release(jobs, job);
        return 0;
    }
    job->connection = connection;
    job->is_first = !connection->has_asked;
    connection->has_asked = true;
    jobs_submit(jobs, job);
    return 1;
}

/* One turn of a connection. Input that arrives while a worker answers is remembered (can_read) and
 * read afterwards. */
static enum next serve(struct loop *loop, struct connection *connection) {
    struct workers_loop *self = (struct workers_loop *)loop;
    if (idle_restarts(exchange_is_partial(&connection->exchange), 0))
        connections_touch(&loop->connections, connection, loop->now_ns);
    int result = turn_receive(connection);
    if (result == 0)
        result = turn_send(connection);
    if (result == 0)
        result = submit_next(self, connection);
    return result > 0 ? NEXT_ANSWER : turn_next(loop, connection, result);
}

static void send_answers(struct reactor *reactor) {
    struct workers_loop *self = (struct workers_loop *)reactor;
    struct loop *loop = &reactor->loop;
    for (struct job *next, *job = jobs_take_answered(&self->jobs); job != NULL; job = next) {
        struct connection *connection = job->connection;
        next = job->next;
        answer_reply(job->server, connection->fd, &connection->exchange, &job->request, job->status,
                     &job->body);
        jobs_release(&self->jobs, job);
        connections_touch(&loop->connections, connection, loop->now_ns);
        reactor_serve_later(reactor, connection);
    }
}

static int run(struct server *server) {
    struct workers_loop self = {.reactor = reactor_of(server)};
    int error = jobs_open(&self.jobs, server);
    if (error != 0)
        return error;
    reactor_trigger_on_edges(&self.reactor);
    self.reactor.turn = serve;
    self.reactor.woken_fd = self.jobs.answered_fd;
    self.reactor.woken = send_answers;
    server->counts = &server->stats->loop;
    error = ready_say(server);
    if (error == 0)
        error = epoll_run(&self.reactor);
    jobs_close(&self.jobs);
    return error;
}

const struct design design_epoll_workers = {
    .name = "epoll-workers",
    .summary = "one event loop on epoll, requests handed to a pool of threads",
    .workers = POOL_WORKERS,
    .run = run,
};

/* All connections in one thread, on edge-triggered epoll.
 *
 * A descriptor is registered once, for both directions, and never touched again: an edge says that
 * the connection is made, and another one that the reply has come. A request costs one send, one
 * recv and its share of an epoll_wait; no allocation, and no timer but a sweep over an array of
 * deadlines now and then. */
#include "base/clock.h"
#include "base/limits.h"
#include "load/load.h"
#include "load/show.h"
#include "load/stop.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_SIZE = 64 * 1024, BODY_LIMIT = 64 * 1024, EVENT_BATCH = 256 };

enum state {
    RESTING,    /* nothing to do: not started, or done */
    CONNECTING, /* no answer to connect yet */
    SENDING,    /* the socket took only part of the request */
    WAITING,    /* for the reply */
    PAUSED,     /* after a failure, before connecting again */
};

struct connection {
    int fd;
    enum state state;
    uint32_t requests; /* made on this connection */
    uint32_t sent;     /* bytes of the request */
    int64_t start_ns, first_byte_ns;
    struct text body; /* for showing */
    struct reply reply;
};

struct epoll_engine {
    const struct load *load;
    struct worker *worker;
    struct connection *connections;
    int64_t *deadlines_ns; /* of each connection; apart, because the sweep reads nothing else */
    int64_t end_ns;        /* no request begins after it */
    uint32_t active;       /* connections that do not rest */
    int epoll_fd;
    char bytes[READ_SIZE];
};

static uint32_t number_of(const struct epoll_engine *e, const struct connection *c) {
    return (uint32_t)(c - e->connections);
}

static void hang_up(struct connection *c) {
    if (c->fd >= 0)
        close(c->fd); /* which takes it out of the epoll set */
    c->fd = -1;
    c->requests = 0;
}

static void enter(struct epoll_engine *e, struct connection *c, enum state state) {
    if (c->state == RESTING && state != RESTING)
        e->active++;
    if (c->state != RESTING && state == RESTING)
        e->active--;
    c->state = state;
}

static void rest(struct epoll_engine *e, struct connection *c) {
    hang_up(c);
    enter(e, c, RESTING);
    e->deadlines_ns[number_of(e, c)] = INT64_MAX;
}

static void fail(struct epoll_engine *e, struct connection *c, enum outcome outcome,
                 const char *why) {
    uint32_t number = number_of(e, c);
    if (e->load->show != NULL)
        show_failure(e->load->show, number, why);
    bool room = worker_failed(e->worker, number, c->start_ns, c->first_byte_ns, outcome, why);
    if (e->load->shape == SHAPE_BURST || !room) {
        rest(e, c);
        return;
    }
    hang_up(c);
    enter(e, c, PAUSED);
    e->deadlines_ns[number] = clock_monotonic_ns() + RETRY_PAUSE_MS * NS_PER_MS;
}

static int open_connection(struct epoll_engine *e, struct connection *c) {
    const struct address *address = &e->load->address;
    c->fd = socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0)
        return -errno;
    if (connect(c->fd, (const struct sockaddr *)&address->storage, address->length) != 0 &&
        errno != EINPROGRESS)
        return -errno;
    /* Registering reports what is so already: an edge before it is not missed. */
    struct epoll_event both = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    return epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, c->fd, &both) == 0 ? 0 : -errno;
}

static bool is_last_request(const struct load *load, const struct connection *c) {
    return load->shape == SHAPE_BURST ||
           (load->per_connection != 0 && c->requests >= load->per_connection);
}

/* Sends the request, or what is left of it. false: the connection broke; there may still be a
 * reply to read, as a server at its limit answers before it is asked. */
static bool send_request(struct epoll_engine *e, struct connection *c) {
    const struct request *request =
        is_last_request(e->load, c) ? &e->load->last_request : &e->load->request;
    ssize_t sent = send(c->fd, request->bytes + c->sent, request->length - c->sent, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
        return false;
    c->sent += sent > 0 ? (uint32_t)sent : 0;
    enter(e, c, c->sent == request->length ? WAITING : SENDING);
    return true;
}

/* Begins a request: on the open connection, or by opening one. */
static void begin(struct epoll_engine *e, struct connection *c) {
    c->start_ns = clock_monotonic_ns();
    c->first_byte_ns = 0;
    c->sent = 0;
    c->requests++;
    c->body.length = 0;
    e->deadlines_ns[number_of(e, c)] = c->start_ns + e->load->timeout_ns;
    reply_begin(&c->reply, e->load->dialect, e->load->top, e->load->show != NULL ? &c->body : NULL);
    if (c->fd >= 0) {
        /* Broken: the edge that says so has come or will come, and is handled as any other. */
        if (!send_request(e, c))
            enter(e, c, WAITING);
        return;
    }
    enter(e, c, CONNECTING);
    int outcome = open_connection(e, c);
    if (outcome != 0)
        fail(e, c, OUTCOME_CONNECT, load_connect_problem(-outcome));
}

/* true: the next request has begun on the same connection. */
static bool answered(struct epoll_engine *e, struct connection *c, int64_t now_ns) {
    const struct load *load = e->load;
    if (load->show != NULL)
        show_reply(load->show, number_of(e, c), now_ns - c->start_ns, &c->body);
    bool room = worker_answered(e->worker, number_of(e, c), c->start_ns, c->first_byte_ns, now_ns);
    if (load->shape == SHAPE_BURST || !room || now_ns >= e->end_ns || stop_requested()) {
        rest(e, c);
        return false;
    }
    bool reconnect = c->reply.close || is_last_request(load, c);
    if (reconnect)
        hang_up(c);
    begin(e, c);
    return !reconnect;
}

/* Takes what has come. true: the request, or the next one on this connection, goes on. */
static bool take(struct epoll_engine *e, struct connection *c, size_t length) {
    int64_t now_ns = clock_monotonic_ns();
    e->worker->bytes_received += length;
    if (c->first_byte_ns == 0)
        c->first_byte_ns = now_ns;
    enum verdict verdict = reply_feed(&c->reply, e->bytes, length);
    if (verdict == REPLY_INCOMPLETE)
        return true;
    if (verdict == REPLY_COMPLETE)
        return answered(e, c, now_ns);
    char why[PROBLEM_LIMIT];
    reply_explain(&c->reply, verdict, why);
    fail(e, c, verdict == REPLY_REFUSED ? OUTCOME_REFUSED : OUTCOME_MALFORMED, why);
    return false;
}

/* Reads once: an edge-triggered socket that gave less than there was room for is empty. Only when
 * the connection has `ended` there is more to learn, and no other edge that would tell it. */
static void receive(struct epoll_engine *e, struct connection *c, bool ended) {
    bool more = true;
    while (more) {
        ssize_t length = recv(c->fd, e->bytes, sizeof e->bytes, 0);
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0 && errno == EAGAIN)
            return;
        if (length <= 0) {
            fail(e, c, OUTCOME_CLOSED,
                 length == 0 ? "the server closed the connection" : strerrordesc_np(errno));
            return;
        }
        more = take(e, c, (size_t)length) && (ended || (size_t)length == sizeof e->bytes);
    }
}

/* What the edge for a connection that is being made brought. */
static void connected(struct epoll_engine *e, struct connection *c, uint32_t events) {
    if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
        int error = 0;
        socklen_t length = sizeof error;
        getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &length);
        enum outcome outcome = load_connect_outcome(error);
        if (error != 0 && outcome == OUTCOME_CONNECT) {
            fail(e, c, outcome, load_connect_problem(error));
            return;
        }
        /* Made, and dropped at once, perhaps with an answer. */
    }
    e->worker->connections_opened++;
    if (!send_request(e, c))
        enter(e, c, WAITING);
}

static void handle(struct epoll_engine *e, struct connection *c, uint32_t events) {
    if (c->state == CONNECTING)
        connected(e, c, events);
    else if (c->state == SENDING && (events & EPOLLOUT) != 0 && !send_request(e, c))
        enter(e, c, WAITING);
    if (c->fd >= 0 && (events & (EPOLLIN | EPOLLERR | EPOLLHUP | EPOLLRDHUP)) != 0)
        receive(e, c, (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) != 0);
}

/* Ends what took too long, and begins again what paused. */
static void sweep(struct epoll_engine *e, int64_t now_ns) {
    for (uint32_t i = 0; i < e->load->connections; i++) {
        if (e->deadlines_ns[i] > now_ns)
            continue;
        struct connection *c = &e->connections[i];
        if (c->state == PAUSED && now_ns < e->end_ns)
            begin(e, c);
        else if (c->state == PAUSED)
            rest(e, c);
        else if (c->state == CONNECTING)
            fail(e, c, OUTCOME_CONNECT, load_connect_problem(ETIMEDOUT));
        else if (c->state != RESTING)
            fail(e, c, OUTCOME_TIMEOUT, "no complete reply in time");
    }
}

/* Until every connection rests. */
static void serve(struct epoll_engine *e) {
    struct epoll_event events[EVENT_BATCH];
    /* Within 2 % of a timeout and within a fraction of a pause. */
    int64_t timeout_ms = e->load->timeout_ns / NS_PER_MS;
    int tick_ms = timeout_ms < 50 ? 1 : timeout_ms > 1000 ? 20 : (int)(timeout_ms / 50);
    int64_t next_sweep_ns = clock_monotonic_ns() + tick_ms * NS_PER_MS;
    while (e->active > 0 && !stop_requested()) {
        int count = epoll_wait(e->epoll_fd, events, EVENT_BATCH, tick_ms);
        for (int i = 0; i < count; i++)
            handle(e, events[i].data.ptr, events[i].events);
        int64_t now_ns = clock_monotonic_ns();
        if (now_ns >= next_sweep_ns) {
            sweep(e, now_ns);
            next_sweep_ns = now_ns + tick_ms * NS_PER_MS;
        }
    }
}

static void close_engine(struct epoll_engine *e) {
    for (uint32_t i = 0; e->connections != NULL && i < e->load->connections; i++) {
        hang_up(&e->connections[i]);
        text_release(&e->connections[i].body);
    }
    if (e->epoll_fd >= 0)
        close(e->epoll_fd);
    free(e->deadlines_ns);
    free(e->connections);
    free(e);
}

static struct epoll_engine *open_engine(const struct load *load) {
    struct epoll_engine *e = calloc(1, sizeof *e);
    if (e == NULL)
        return NULL;
    e->load = load;
    e->worker = &load->workers[0];
    e->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    e->deadlines_ns = calloc(load->connections, sizeof *e->deadlines_ns);
    e->connections = calloc(load->connections, sizeof *e->connections);
    for (uint32_t i = 0; e->connections != NULL && i < load->connections; i++) {
        e->connections[i].fd = -1;
        e->connections[i].body = text_growing(BODY_LIMIT);
    }
    if (e->connections == NULL || e->deadlines_ns == NULL || e->epoll_fd < 0) {
        close_engine(e);
        return NULL;
    }
    return e;
}

static int run(struct load *load) {
    uint32_t rounds = load->shape == SHAPE_BURST ? load->rounds : 1;
    struct epoll_engine *e = open_engine(load);
    if (e == NULL) {
        load->problem = "no memory for the connections; ask for fewer with -c";
        return -ENOMEM;
    }
    e->end_ns = clock_monotonic_ns() + load->duration_ns;
    for (uint32_t round = 0; round < rounds && !stop_requested(); round++) {
        for (uint32_t i = 0; i < load->connections; i++)
            begin(e, &e->connections[i]);
        serve(e);
    }
    close_engine(e);
    return 0;
}

const struct engine engine_epoll = {
    .name = "epoll",
    .summary = "all connections in one thread, nonblocking sockets on epoll",
    .worker_each = false,
    .descriptors_each = true,
    .run = run,
};

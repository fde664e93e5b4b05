#include "client/engines/epoll_request.h"

#include "base/clock.h"
#include "base/limits.h"
#include "client/engines/carrier.h"
#include "client/engines/connect.h"
#include "client/engines/early_reply.h"
#include "client/load/stop.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

static void note_event(struct worker *worker, struct epoll_connection *c, int64_t ns) {
    struct times *times = c->events == 0 ? &worker->first_events : &worker->next_events;
    worker->full |= !times_add(times, ns);
}

void request_note_events(struct epoll_engine *e, struct epoll_connection *c) {
    for (; c->reply.has_events && c->events < c->reply.events.count; c->events++) {
        note_event(e->worker, c, e->now_ns - c->event_ns);
        c->event_ns = e->now_ns;
    }
}

void request_fail(struct epoll_engine *e, struct epoll_connection *c, enum outcome outcome,
                  const char *why) {
    if (outcome == OUTCOME_TIMEOUT &&
        c->reply.has_events) /* the next would have come later still */
        note_event(e->worker, c, c->event_ns - clock_monotonic_ns());
    if (e->load->viewer != NULL)
        e->load->viewer->failure(e->load->viewer, number_in_load(e, c), why);
    bool room =
        worker_failed(e->worker, number_in_load(e, c), c->start_ns, c->first_byte_ns, outcome, why);
    if (e->load->shape == SHAPE_BURST || !room) {
        connection_rest(e, c);
        return;
    }
    connection_hang_up(c);
    connection_enter(e, c, PAUSED);
    e->deadlines_ns[number_of(e, c)] = clock_monotonic_ns() + RETRY_PAUSE_MS * NS_PER_MS;
}

static int open_connection(struct epoll_engine *e, struct epoll_connection *c) {
    c->fd = connect_socket(e->load, e->worker);
    int outcome = c->fd >= 0 ? connect_begin(e->load, c->fd) : c->fd;
    return outcome == 0 ? connection_watch(e, c) : outcome;
}

static bool is_last_request(const struct load *load, const struct epoll_connection *c) {
    return load->shape == SHAPE_BURST ||
           (load->per_connection != 0 && c->requests >= load->per_connection);
}

const struct text *request_form(const struct load *load, const struct epoll_connection *c) {
    return &c->request->forms[c->requests == 1][is_last_request(load, c)];
}

/* Sends the request, or the rest of it. After an error there may still be a reply to read, because
 * a server at its limit answers before it reads; so the edge that reports the error is handled like
 * any other. */
static void send_request(struct epoll_engine *e, struct epoll_connection *c) {
    const struct text *request = request_form(e->load, c);
    ssize_t sent = send(c->fd, request->bytes + c->sent, request->length - c->sent, MSG_NOSIGNAL);
    bool broken = sent < 0 && errno != EAGAIN && errno != EINTR;
    c->sent += sent > 0 ? (uint32_t)sent : 0;
    connection_enter(e, c, broken || c->sent == request->length ? WAITING : SENDING);
}

/* Sends the request on the open connection or a new one. */
static void start(struct epoll_engine *e, struct epoll_connection *c) {
    const struct load *load = e->load;
    c->sent = 0;
    c->requests++;
    load_reply_begin(load, e->worker, &c->reply, c->request, c->requests == 1,
                     load->viewer != NULL ? &c->body : NULL);
    if (c->carrier != NULL) {
        carrier_start(e, c);
        return;
    }
    if (c->fd >= 0) {
        send_request(e, c);
        return;
    }
    connection_enter(e, c, CONNECTING);
    int outcome = open_connection(e, c);
    if (outcome != 0)
        request_fail(e, c, OUTCOME_CONNECT, load_connect_problem(-outcome));
}

void request_begin(struct epoll_engine *e, struct epoll_connection *c, int64_t start_ns) {
    c->start_ns = start_ns;
    c->first_byte_ns = 0;
    c->event_ns = start_ns;
    c->events = 0;
    c->body.length = 0;
    c->body.overflow = false;
    e->deadlines_ns[number_of(e, c)] = e->now_ns + e->load->timeout_ns;
    c->request = requests_next(&e->load->requests, &e->worker->next_request);
    start(e, c);
}

/* Returns whether the next request has started on the same connection. */
static bool answered(struct epoll_engine *e, struct epoll_connection *c, int64_t now_ns) {
    const struct load *load = e->load;
    size_t unsent =
        c->carrier != NULL ? carrier_unsent(e, c) : request_form(load, c)->length - c->sent;
    if (reply_is_early(c->fd, c->request, unsent, &c->reply)) {
        request_fail(e, c, OUTCOME_EARLY, EARLY_PROBLEM);
        return false;
    }
    if (load->viewer != NULL)
        load->viewer->reply(load->viewer, number_in_load(e, c), now_ns - c->start_ns, &c->body);
    bool room = worker_answered(e->worker, number_in_load(e, c), c->start_ns, c->first_byte_ns,
                                now_ns, &c->reply);
    if (load->shape == SHAPE_BURST || !room || now_ns >= e->end_ns || stop_requested()) {
        connection_rest(e, c);
        return false;
    }
    /* Behind half a request the server would take the next one for the rest of it. */
    bool reconnect =
        is_last_request(load, c) || (!load->is_http2 && (c->reply.head.close || unsent > 0));
    if (reconnect)
        connection_hang_up(c);
    if (load->shape == SHAPE_OPEN) {
        connection_release(e, c, now_ns);
        return false;
    }
    e->now_ns = clock_monotonic_ns();
    request_begin(e, c, e->now_ns);
    return !reconnect;
}

bool request_conclude(struct epoll_engine *e, struct epoll_connection *c, enum verdict verdict) {
    char why[PROBLEM_LIMIT];
    request_note_events(e, c);
    if (verdict == REPLY_COMPLETE)
        return answered(e, c, e->now_ns);
    reply_explain(&c->reply, verdict, why);
    request_fail(e, c, load_reply_outcome(verdict), why);
    return false;
}

static enum verdict feed(struct epoll_engine *e, struct epoll_connection *c, const char *bytes,
                         size_t length) {
    if (c->first_byte_ns != 0)
        return reply_feed(&c->reply, bytes, length);
    c->first_byte_ns = e->now_ns;
    size_t number = (size_t)(c->request - e->load->requests.each);
    return known_reply_feed(&e->known[number % KNOWN_REPLIES], request_form(e->load, c), &c->reply,
                            bytes, length);
}

bool request_take(struct epoll_engine *e, struct epoll_connection *c, const char *bytes,
                  size_t length) {
    enum verdict verdict = feed(e, c, bytes, length);
    if (verdict != REPLY_INCOMPLETE)
        return request_conclude(e, c, verdict);
    request_note_events(e, c);
    return true;
}

/* A server may close a connection at rest just when a request is on its way: one that has answered
 * before, so that a new connection is not left again. */
static bool may_start_again(const struct epoll_connection *c) {
    return c->requests > 1 && c->first_byte_ns == 0 && c->request->is_repeatable;
}

void request_restart(struct epoll_engine *e, struct epoll_connection *c) {
    connection_hang_up(c);
    e->worker->resent++;
    start(e, c);
}

void request_closed(struct epoll_engine *e, struct epoll_connection *c, int error) {
    if (may_start_again(c)) {
        request_restart(e, c);
        return;
    }
    /* The end of a connection is the end of a reply only in HTTP/1.1 and the line dialect. */
    enum verdict verdict =
        error == 0 && !e->load->is_http2 ? reply_end(&c->reply) : REPLY_INCOMPLETE;
    if (verdict != REPLY_INCOMPLETE)
        request_conclude(e, c, verdict);
    else
        request_fail(e, c, OUTCOME_CLOSED,
                     error == 0 ? "the server closed the connection" : strerrordesc_np(error));
}

/* Reads once: a short read means that the socket is empty. Only if the connection has `ended` can
 * there be more to read, and no other edge would report it. */
static void receive(struct epoll_engine *e, struct epoll_connection *c, bool ended) {
    bool more = true;
    while (more) {
        ssize_t length = recv(c->fd, e->bytes, sizeof e->bytes, 0);
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0 && errno == EAGAIN)
            return;
        e->now_ns = clock_monotonic_ns();
        if (length <= 0) {
            request_closed(e, c, length == 0 ? 0 : errno);
            return;
        }
        e->worker->bytes_received += (size_t)length;
        more = request_take(e, c, e->bytes, (size_t)length) &&
               (ended || (size_t)length == sizeof e->bytes);
    }
    /* No other edge would report the end, and the next request would fail. */
    if (ended && c->state == FREE)
        connection_hang_up(c);
}

/* Handles the first edge of a connection: it is connected, or has failed. */
static void connected(struct epoll_engine *e, struct epoll_connection *c, uint32_t events) {
    if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
        int error = 0;
        socklen_t length = sizeof error;
        getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &length);
        enum outcome outcome = load_connect_outcome(error);
        if (error != 0 && outcome == OUTCOME_CONNECT) {
            request_fail(e, c, outcome, load_connect_problem(error));
            return;
        }
        /* The server accepted and closed it at once, perhaps after a reply. */
    }
    e->worker->connections_opened++;
    send_request(e, c);
}

void request_handle(struct epoll_engine *e, struct epoll_connection *c, uint32_t events) {
    if (c->carrier != NULL) {
        carrier_handle(e, c, events);
        return;
    }
    bool readable = (events & (EPOLLIN | EPOLLERR | EPOLLHUP | EPOLLRDHUP)) != 0;
    if (c->state == FREE) {
        if (readable) /* the server has closed it, or sent something without a request */
            connection_hang_up(c);
        return;
    }
    if (c->state == CONNECTING)
        connected(e, c, events);
    else if (c->state == SENDING && (events & EPOLLOUT) != 0)
        send_request(e, c);
    if (c->fd >= 0 && readable)
        receive(e, c, (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) != 0);
}

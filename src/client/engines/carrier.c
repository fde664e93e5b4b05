#include "client/engines/carrier.h"

#include "base/clock.h"
#include "client/engines/connect.h"
#include "client/engines/early_reply.h"
#include "client/engines/epoll_request.h"
#include "client/engines/http2.h"
#include "client/engines/tls.h"
#include "client/engines/websocket.h"
#include "client/load/stop.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* More is encrypted or framed when this has been sent. */
enum { BATCH_LIMIT = 64 * 1024 };

struct carriage {
    struct tls_setting *tls;             /* NULL: without TLS */
    struct http2_request *requests;      /* as load->requests; NULL: no HTTP/2 */
    struct websocket_setting *websocket; /* NULL: none */
};

struct carrier {
    struct epoll_engine *engine;
    struct epoll_connection *slots;
    struct http2_stream *streams; /* of each slot; NULL: HTTP/1.1 */
    struct tls *tls;              /* NULL: none, or not connected */
    struct http2 *http2;          /* the same */
    struct websocket *websocket;  /* the same */
    struct tls_ticket ticket;
    struct text output; /* without TLS: what is to be sent */
    size_t sent;        /* bytes of it */
    int fd;             /* −1: not connected */
    enum stage { CLOSED, TCP_CONNECTING, HANDSHAKE, UPGRADING, OPEN } stage;
    bool is_leaving; /* takes no more requests, and ends when none is left */
    bool is_busy;    /* being handled: it cannot end before that is done */
};

const char *carriage_missing(void) {
    return NULL;
}

int carriage_open(struct load *load) {
    const struct tls_wish wish = {load->tls_host, load->cafile, load->is_insecure, load->is_http2};
    struct carriage *carriage = calloc(1, sizeof *carriage);
    int outcome = carriage != NULL ? 0 : -ENOMEM;
    load->carriage = carriage;
    load->problem = "not enough memory for TLS and HTTP/2";
    if (outcome == 0 && load->is_http2) {
        carriage->requests = http2_requests_build(&load->requests, load->is_tls, &load->problem);
        outcome = carriage->requests != NULL ? 0 : -EINVAL;
    }
    if (outcome == 0 && load->is_websocket)
        outcome = websocket_setting_open(&carriage->websocket, &load->requests.each->forms[0][0],
                                         &load->problem);
    if (outcome == 0 && load->is_tls)
        outcome = tls_setting_open(&carriage->tls, &wish, &load->problem);
    if (outcome != 0)
        carriage_close(load);
    return outcome;
}

void carriage_close(struct load *load) {
    if (load->carriage == NULL)
        return;
    tls_setting_close(load->carriage->tls);
    websocket_setting_close(load->carriage->websocket);
    http2_requests_release(load->carriage->requests, load->requests.count);
    free(load->carriage);
    load->carriage = NULL;
}

static uint32_t carriers_of(const struct epoll_engine *e) {
    return e->count / e->load->streams;
}

int carriers_open(struct epoll_engine *e) {
    const uint32_t streams = e->load->streams;
    int outcome = 0;
    e->carriers = calloc(carriers_of(e), sizeof *e->carriers);
    for (uint32_t i = 0; e->carriers != NULL && i < carriers_of(e); i++) {
        struct carrier *k = &e->carriers[i];
        *k = (struct carrier){.engine = e,
                              .slots = &e->connections[i * streams],
                              .output = text_growing(2 * BATCH_LIMIT),
                              .fd = -1};
        for (uint32_t slot = 0; slot < streams; slot++)
            k->slots[slot].carrier = k;
        if (e->load->is_http2 && (k->streams = calloc(streams, sizeof *k->streams)) == NULL)
            outcome = -ENOMEM;
    }
    return e->carriers != NULL ? outcome : -ENOMEM;
}

/* What is to be sent. */
static struct slice output_of(const struct carrier *k) {
    if (k->tls != NULL)
        return tls_output(k->tls);
    return (struct slice){k->output.bytes + k->sent, k->output.length - k->sent};
}

/* Of at most BATCH_LIMIT bytes, when fewer than that are left to send: both fit. */
static void put(struct carrier *k, struct slice bytes) {
    if (k->tls != NULL) {
        tls_write(k->tls, bytes.bytes, bytes.length); /* what is wrong is found by reading */
        return;
    }
    if (k->sent > 0)
        memmove(k->output.bytes, k->output.bytes + k->sent, k->output.length - k->sent);
    k->output.length -= (uint32_t)k->sent;
    k->sent = 0;
    text_add(&k->output, bytes.bytes, bytes.length);
}

/* Says that nothing more will be sent, as far as that takes no waiting. */
static void say_end(struct carrier *k) {
    if (k->websocket != NULL) {
        websocket_end(k->websocket);
        put(k, websocket_output(k->websocket));
    }
    if (k->tls != NULL)
        tls_end(k->tls);
    const struct slice last = output_of(k);
    if (k->http2 == NULL || k->tls != NULL)
        send(k->fd, last.bytes, last.length, MSG_NOSIGNAL);
}

/* Ends the connection. */
static void drop(struct carrier *k) {
    if (k->fd < 0)
        return;
    if (k->stage == OPEN)
        say_end(k);
    websocket_close(k->websocket);
    http2_close(k->http2);
    tls_close(k->tls);
    close(k->fd);
    k->websocket = NULL;
    k->http2 = NULL;
    k->tls = NULL;
    k->fd = -1;
    k->stage = CLOSED;
    k->is_leaving = false;
    k->output.length = 0;
    k->output.overflow = false;
    k->sent = 0;
    for (uint32_t i = 0; k->streams != NULL && i < k->engine->load->streams; i++)
        k->streams[i].id = 0;
}

void carriers_hang_up(struct epoll_engine *e) {
    for (uint32_t i = 0; e->carriers != NULL && i < carriers_of(e); i++)
        drop(&e->carriers[i]);
}

void carriers_close(struct epoll_engine *e) {
    carriers_hang_up(e);
    for (uint32_t i = 0; e->carriers != NULL && i < carriers_of(e); i++) {
        tls_ticket_release(&e->carriers[i].ticket);
        text_release(&e->carriers[i].output);
        free(e->carriers[i].streams);
    }
    free(e->carriers);
}

/* HTTP/1.1: a part of the request. */
static struct slice next_part(struct carrier *k) {
    struct epoll_connection *c = k->slots;
    if (c->state != SENDING)
        return (struct slice){NULL, 0};
    const struct text *form = request_form(k->engine->load, c);
    struct slice part = {form->bytes + c->sent, form->length - c->sent};
    if (part.length > BATCH_LIMIT)
        part.length = BATCH_LIMIT;
    c->sent += (uint32_t)part.length;
    if (c->sent == form->length)
        connection_enter(k->engine, c, WAITING);
    return part;
}

/* Frames and encrypts what is to be sent next. */
static void fill(struct carrier *k) {
    while (k->stage >= UPGRADING && output_of(k).length < BATCH_LIMIT) {
        const struct slice part = k->http2 != NULL       ? http2_output(k->http2)
                                  : k->websocket != NULL ? websocket_output(k->websocket)
                                                         : next_part(k);
        if (part.length == 0)
            return;
        put(k, part);
    }
}

/* Sends until nothing is left or the socket is full; its next edge says when it is not. After an
 * error there may still be a reply to read. */
static void flush(struct carrier *k) {
    for (fill(k); output_of(k).length > 0 && !k->output.overflow; fill(k)) {
        const struct slice output = output_of(k);
        const ssize_t sent = send(k->fd, output.bytes, output.length, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        if (k->tls != NULL) {
            tls_sent(k->tls, (size_t)sent);
        } else if ((k->sent += (size_t)sent) == k->output.length) {
            k->output.length = 0;
            k->sent = 0;
        }
    }
}

static bool is_on_connection(const struct epoll_connection *c) {
    return c->state == SENDING || c->state == WAITING;
}

/* A slot whose request is on the connection, or waits for it. */
static struct epoll_connection *any_slot(const struct carrier *k, bool waiting) {
    for (uint32_t i = 0; i < k->engine->load->streams; i++)
        if (waiting ? k->slots[i].state == CONNECTING : is_on_connection(&k->slots[i]))
            return &k->slots[i];
    return NULL;
}

/* Returns 0 or -errno. */
static int begin(struct carrier *k) {
    const struct load *load = k->engine->load;
    const int yes = 1;
    k->fd = connect_socket(load, k->engine->worker);
    if (k->fd < 0)
        return k->fd;
    /* Else a request would wait until the server has acknowledged an earlier stream's. */
    setsockopt(k->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    k->stage = TCP_CONNECTING;
    k->slots->fd = k->fd;
    int outcome = connect_begin(load, k->fd);
    if (outcome == 0)
        outcome = connection_watch(k->engine, k->slots);
    k->slots->fd = -1;
    if (outcome != 0)
        drop(k);
    return outcome;
}

/* The connection has ended. why: printable; NULL: as error says, 0: the server closed it. */
static void lost(struct carrier *k, int error, const char *why) {
    struct epoll_engine *e = k->engine;
    const bool was_open = k->stage == OPEN;
    const char *known = error != 0              ? strerrordesc_np(error)
                        : k->stage == HANDSHAKE ? "TLS: the server closed the connection"
                                                : "the server closed the connection";
    e->now_ns = clock_monotonic_ns();
    k->is_leaving = true; /* what starts in this loop waits */
    for (uint32_t i = 0; i < e->load->streams; i++) {
        struct epoll_connection *c = &k->slots[i];
        if (c->state == CONNECTING && !was_open)
            request_fail(e, c, OUTCOME_CONNECT, why != NULL ? why : known);
        else if (is_on_connection(c) && why != NULL)
            request_fail(e, c, OUTCOME_MALFORMED, why);
        else if (is_on_connection(c))
            request_closed(e, c, error);
    }
    drop(k);
}

/* All that can be done without waiting. */
static void settle(struct carrier *k) {
    struct epoll_engine *e = k->engine;
    struct epoll_connection *c;
    if (k->is_busy)
        return;
    k->is_busy = true; /* framing may end streams */
    if (k->stage > TCP_CONNECTING)
        flush(k);
    if (k->output.overflow)
        lost(k, ENOMEM, NULL);
    if (k->http2 != NULL && http2_is_broken(k->http2))
        lost(k, 0, http2_problem(k->http2));
    k->is_busy = false;
    if (k->http2 != NULL)
        k->is_leaving |= http2_is_leaving(k->http2);
    if (k->fd >= 0 && (!k->is_leaving || any_slot(k, false) != NULL))
        return;
    drop(k);
    if (any_slot(k, true) == NULL)
        return;
    const int outcome = begin(k);
    while (outcome != 0 && (c = any_slot(k, true)) != NULL)
        request_fail(e, c, OUTCOME_CONNECT, load_connect_problem(-outcome));
}

static void submit(struct carrier *k, struct epoll_connection *c) {
    const struct load *load = k->engine->load;
    if (k->websocket != NULL)
        websocket_send(k->websocket);
    if (k->http2 == NULL) {
        connection_enter(k->engine, c, k->websocket != NULL ? WAITING : SENDING);
        return;
    }
    struct http2_stream *stream = &k->streams[c - k->slots];
    stream->request = http2_requests_at(load->carriage->requests, c->request - load->requests.each);
    stream->reply = &c->reply;
    if (http2_submit(k->http2, stream) == 0)
        connection_enter(k->engine, c, WAITING);
}

void carrier_start(struct epoll_engine *e, struct epoll_connection *c) {
    struct carrier *k = c->carrier;
    connection_enter(e, c, CONNECTING);
    if (k->stage == OPEN && !k->is_leaving)
        submit(k, c);
    settle(k);
}

void carrier_leave(struct epoll_connection *c) {
    struct carrier *k = c->carrier;
    const uint32_t streams = k->engine->load->streams;
    bool is_last = true;
    if (k->fd < 0)
        return;
    if (k->http2 != NULL)
        http2_cancel(k->http2, &k->streams[c - k->slots]);
    for (uint32_t i = 0; i < streams; i++)
        is_last = is_last && (&k->slots[i] == c || k->slots[i].state == RESTING);
    k->is_leaving |= is_last || k->stage != OPEN;
    if (c->state != RESTING)
        connection_enter(k->engine, c, PAUSED); /* no longer on the connection */
    settle(k);
}

static void on_began(void *owner, struct http2_stream *stream) {
    struct carrier *k = owner;
    struct epoll_connection *c = &k->slots[stream - k->streams];
    if (c->first_byte_ns == 0)
        c->first_byte_ns = k->engine->now_ns;
}

static void on_ended(void *owner, struct http2_stream *stream, enum verdict verdict,
                     const char *why, bool is_untouched) {
    struct carrier *k = owner;
    struct epoll_connection *c = &k->slots[stream - k->streams];
    request_note_events(k->engine, c);
    if (verdict != REPLY_INCOMPLETE)
        request_conclude(k->engine, c, verdict);
    else if (is_untouched)
        request_restart(k->engine, c);
    else
        request_fail(k->engine, c, OUTCOME_CLOSED, why);
}

/* Requests can be sent from now on. */
static void opened(struct carrier *k) {
    k->stage = OPEN;
    for (uint32_t i = 0; i < k->engine->load->streams; i++)
        if (k->slots[i].state == CONNECTING)
            submit(k, &k->slots[i]);
}

/* The connection is there, and TLS if it is wanted. */
static void reached(struct carrier *k) {
    const struct load *load = k->engine->load;
    struct worker *worker = k->engine->worker;
    worker->connections_opened++;
    if (k->tls != NULL) {
        worker->resumed += tls_is_resumed(k->tls);
        if (worker->tls[0] == '\0')
            tls_name(k->tls, worker->tls);
    }
    if (load->is_http2) {
        const struct http2_events events = {k, on_began, on_ended};
        k->http2 = http2_open(&events, k->streams, load->streams);
    }
    if (load->is_websocket)
        k->websocket = websocket_open(load->carriage->websocket);
    if ((load->is_http2 && k->http2 == NULL) || (load->is_websocket && k->websocket == NULL))
        lost(k, ENOMEM, NULL);
    else if (load->is_websocket)
        k->stage = UPGRADING;
    else
        opened(k);
}

/* The TCP connection is there, or has failed. */
static void connected(struct carrier *k) {
    const struct load *load = k->engine->load;
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(k->fd, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0) {
        lost(k, error, load_connect_problem(error));
        return;
    }
    k->stage = HANDSHAKE;
    if (!load->is_tls) {
        reached(k);
        return;
    }
    k->tls = tls_open(load->carriage->tls, load->resumes ? &k->ticket : NULL);
    if (k->tls == NULL)
        lost(k, ENOMEM, NULL);
}

/* The same of WebSocket. */
static bool deliver_message(struct carrier *k, const char *bytes, size_t length) {
    struct epoll_connection *c = k->slots;
    if (is_on_connection(c) && c->first_byte_ns == 0)
        c->first_byte_ns = k->engine->now_ns;
    const enum websocket_found found = websocket_feed(
        k->websocket, bytes, length, k->engine->load->viewer != NULL ? &c->body : NULL);
    if (found == WEBSOCKET_OPENED)
        opened(k);
    else if (found == WEBSOCKET_BROKEN)
        lost(k, 0, websocket_problem(k->websocket));
    else if (found == WEBSOCKET_ECHO && is_on_connection(c) &&
             (websocket_is_sending(k->websocket) || output_of(k).length > 0))
        request_fail(k->engine, c, OUTCOME_EARLY, EARLY_PROBLEM);
    else if (found == WEBSOCKET_ECHO && is_on_connection(c))
        request_conclude(k->engine, c, REPLY_COMPLETE);
    else if (found == WEBSOCKET_ECHO)
        k->is_leaving = true; /* a message without a request */
    if (k->websocket != NULL && websocket_is_ended(k->websocket))
        lost(k, 0, NULL);
    return k->websocket != NULL && !k->is_leaving;
}

/* Content has arrived. Returns whether more can be taken. */
static bool deliver(struct carrier *k, const char *bytes, size_t length) {
    if (k->http2 != NULL) {
        const int outcome = http2_feed(k->http2, bytes, length);
        for (uint32_t i = 0; k->engine->load->has_events && i < k->engine->load->streams; i++)
            if (is_on_connection(&k->slots[i]))
                request_note_events(k->engine, &k->slots[i]);
        if (outcome == 0)
            return true;
        lost(k, 0, http2_problem(k->http2));
        return false;
    }
    if (k->websocket != NULL)
        return deliver_message(k, bytes, length);
    if (is_on_connection(k->slots))
        request_take(k->engine, k->slots, bytes, length);
    else
        k->is_leaving = true; /* something without a request */
    return !k->is_leaving;
}

/* Decrypts what has arrived. Returns whether more can be taken. */
static bool decrypt(struct carrier *k, size_t length) {
    char *bytes = k->engine->bytes;
    if (tls_feed(k->tls, bytes, length) != 0) {
        lost(k, ENOMEM, NULL);
        return false;
    }
    if (k->stage == HANDSHAKE) {
        const int outcome = tls_shake(k->tls);
        if (outcome == -EPROTO)
            lost(k, 0, tls_problem(k->tls));
        else if (outcome == 0)
            reached(k);
    }
    while (k->stage >= UPGRADING) {
        const ptrdiff_t content = tls_read(k->tls, bytes, sizeof k->engine->bytes);
        if (content == -EAGAIN)
            return true;
        if (content <= 0) {
            lost(k, 0, content == 0 ? NULL : tls_problem(k->tls));
            return false;
        }
        if (!deliver(k, bytes, (size_t)content))
            return false;
    }
    return k->stage == HANDSHAKE;
}

/* Reads until nothing is left. */
static void receive(struct carrier *k) {
    struct epoll_engine *e = k->engine;
    while (k->stage > TCP_CONNECTING) {
        const ssize_t length = recv(k->fd, e->bytes, sizeof e->bytes, 0);
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0 && errno == EAGAIN)
            return;
        if (length <= 0) {
            lost(k, length == 0 ? 0 : errno, NULL);
            return;
        }
        e->now_ns = clock_monotonic_ns();
        e->worker->bytes_received += (uint64_t)length;
        if (k->tls != NULL ? !decrypt(k, (size_t)length) : !deliver(k, e->bytes, (size_t)length))
            return;
    }
}

void carrier_handle(struct epoll_engine *e, struct epoll_connection *c, uint32_t events) {
    struct carrier *k = c->carrier;
    (void)e;
    k->is_busy = true;
    if (k->stage == TCP_CONNECTING && (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0)
        connected(k);
    if ((events & ~(uint32_t)EPOLLOUT) != 0)
        receive(k);
    k->is_busy = false;
    settle(k);
}

int carrier_connect(struct epoll_engine *e, struct epoll_connection *c) {
    struct carrier *k = c->carrier;
    const int64_t deadline_ns = clock_monotonic_ns() + e->load->timeout_ns;
    int outcome = k->fd < 0 ? begin(k) : 0; /* else another slot has connected it */
    while (outcome == 0 && k->stage != OPEN) {
        struct pollfd ready = {.fd = k->fd,
                               .events = k->stage == TCP_CONNECTING ? POLLOUT : POLLIN};
        if (poll(&ready, 1, STOP_POLL_MS) > 0)
            carrier_handle(e, k->slots, (uint32_t)ready.revents); /* EPOLLIN is POLLIN */
        if (stop_requested())
            outcome = -EINTR;
        else if (k->fd < 0)
            outcome = -ECONNREFUSED;
        else if (k->stage != OPEN && clock_monotonic_ns() >= deadline_ns)
            outcome = -ETIMEDOUT;
    }
    if (outcome != 0)
        drop(k);
    return outcome;
}

size_t carrier_unsent(const struct epoll_engine *e, const struct epoll_connection *c) {
    const struct carrier *k = c->carrier;
    if (e->load->is_websocket)
        return 0; /* the whole message came back */
    if (k->streams == NULL)
        return request_form(e->load, c)->length - c->sent;
    const struct http2_stream *stream = &k->streams[c - k->slots];
    return http2_body_length(stream->request) - stream->sent;
}

#include "client/engines/blocking_connection.h"

#include "base/clock.h"
#include "base/limits.h"
#include "client/engines/early_reply.h"
#include "client/load/stop.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { READ_SIZE = 16 * 1024, BODY_LIMIT = 64 * 1024 };

/* A connection and its current request. */
struct blocking_connection {
    const struct load *load;
    struct worker *worker;
    uint32_t number;
    int fd;                     /* −1: none */
    uint32_t requests;          /* made on this connection */
    int64_t receive_timeout_ns; /* the socket's receive timeout */
    int64_t start_ns, first_byte_ns;
    const struct request *request;
    const struct text *form; /* what of the request is sent */
    size_t sent;             /* bytes of it */
    struct text body;        /* for showing */
    struct reply reply;
};

static struct timeval to_timeval(int64_t ns) {
    /* Zero would mean no timeout. */
    int64_t us = ns > NS_PER_US ? ns / NS_PER_US : 1;
    return (struct timeval){.tv_sec = us / 1000000, .tv_usec = us % 1000000};
}

static void close_connection(struct blocking_connection *c) {
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

/* An interrupted request was neither answered nor failed, so it makes no sample. */
static bool fail(struct blocking_connection *c, enum outcome outcome, const char *why) {
    close_connection(c);
    if (stop_requested())
        return false;
    if (c->load->viewer != NULL)
        c->load->viewer->failure(c->load->viewer, c->number, why);
    return worker_failed(c->worker, c->number, c->start_ns, c->first_byte_ns, outcome, why);
}

/* Timeouts are set once, on the socket, so that a request costs two system calls. */
static int open_connection(struct blocking_connection *c) {
    const struct address *address = &c->load->address;
    struct timeval timeout = to_timeval(c->load->timeout_ns);
    c->requests = 0;
    c->receive_timeout_ns = c->load->timeout_ns;
    c->fd = socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0)
        return -errno;
    int outcome = sources_bind(&c->load->sources, c->fd, c->worker->next_source++);
    if (outcome != 0)
        return outcome;
    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    if (connect(c->fd, (const struct sockaddr *)&address->storage, address->length) != 0)
        return errno == EINPROGRESS ? -ETIMEDOUT : -errno;
    c->worker->connections_opened++;
    return 0;
}

/* Sends some of the request. Returns 0 or -errno. */
static int send_some(struct blocking_connection *c, int flags) {
    const struct text *form = c->form;
    ssize_t more = send(c->fd, form->bytes + c->sent, form->length - c->sent, MSG_NOSIGNAL | flags);
    c->sent += more > 0 ? (size_t)more : 0;
    return more >= 0 ? 0 : -errno;
}

/* Sends the rest of the request; of a large one only until bytes of the reply arrive, which a
 * server may send before it has read all. Returns 0 or -errno. */
static int send_rest(struct blocking_connection *c) {
    int outcome = 0;
    while (c->sent < c->form->length &&
           (outcome == 0 || (outcome == -EINTR && !stop_requested()))) {
        if (!c->request->is_large) {
            outcome = send_some(c, 0);
            continue;
        }
        int64_t left_ns = c->start_ns + c->load->timeout_ns - clock_monotonic_ns();
        struct pollfd both = {.fd = c->fd, .events = POLLIN | POLLOUT};
        int ready = left_ns > 0 ? poll(&both, 1, (int)(left_ns / NS_PER_MS)) : 0;
        if (ready == 0)
            return -EAGAIN;
        if (ready > 0 && (both.revents & ~POLLOUT) != 0)
            return 0;
        outcome = ready > 0 ? send_some(c, MSG_DONTWAIT) : -errno;
        if (outcome == -EAGAIN) /* poll was wrong */
            outcome = 0;
    }
    return outcome;
}

/* Limits the next receive to the rest of the request's timeout, so that a server that sends byte by
 * byte cannot extend it. A reply in one piece needs no system call. */
static void set_receive_timeout(struct blocking_connection *c, int64_t left_ns) {
    int64_t slack_ns = c->load->timeout_ns / 64;
    if (left_ns >= c->receive_timeout_ns - slack_ns && left_ns <= c->receive_timeout_ns + slack_ns)
        return;
    struct timeval timeout = to_timeval(left_ns);
    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    c->receive_timeout_ns = left_ns;
}

/* What follows an attempt at a request. */
enum next { NEXT_REQUEST, NEXT_ATTEMPT, STOP };

static enum next next_after(bool has_room) {
    return has_room ? NEXT_REQUEST : STOP;
}

static enum next answered(struct blocking_connection *c, int64_t now_ns) {
    size_t unsent = c->form->length - c->sent;
    if (reply_is_early(c->fd, c->request, unsent, &c->reply))
        return next_after(fail(c, OUTCOME_EARLY, EARLY_PROBLEM));
    /* Behind half a request the server would take the next one for the rest of it. */
    c->reply.head.close |= unsent > 0;
    if (c->load->viewer != NULL)
        c->load->viewer->reply(c->load->viewer, c->number, now_ns - c->start_ns, &c->body);
    return next_after(
        worker_answered(c->worker, c->number, c->start_ns, c->first_byte_ns, now_ns, &c->reply));
}

/* The reply is complete, but wrong. */
static enum next answered_wrongly(struct blocking_connection *c, enum verdict verdict) {
    char why[PROBLEM_LIMIT];
    reply_explain(&c->reply, verdict, why);
    return next_after(fail(c, load_reply_outcome(verdict), why));
}

/* The connection has ended; error: or failed. */
static enum next closed(struct blocking_connection *c, int error, int64_t now_ns) {
    /* A server may close a connection at rest just when a request is on its way: one that has
     * answered before, so that there is one further attempt at most. */
    if (error != EINTR && c->requests > 1 && c->first_byte_ns == 0 && c->request->is_repeatable)
        return NEXT_ATTEMPT;
    enum verdict verdict = error == 0 ? reply_end(&c->reply) : REPLY_INCOMPLETE;
    if (verdict == REPLY_COMPLETE)
        return answered(c, now_ns);
    if (verdict != REPLY_INCOMPLETE)
        return answered_wrongly(c, verdict);
    const char *why = error == 0 ? "the server closed the connection" : strerrordesc_np(error);
    return next_after(fail(c, OUTCOME_CLOSED, why));
}

static enum next timed_out(struct blocking_connection *c, const char *why) {
    return next_after(fail(c, OUTCOME_TIMEOUT, why));
}

/* Sends the request, reads the reply and records the outcome. */
static enum next exchange(struct blocking_connection *c, int64_t left_ns) {
    char bytes[READ_SIZE];
    for (;;) {
        const bool is_long = c->form->length - c->sent > READ_SIZE;
        /* After other errors there may still be a reply: a server at its limit answers before it
         * reads. */
        if (send_rest(c) == -EAGAIN)
            return timed_out(c, "the request could not be sent in time");
        if (is_long) /* sending took time */
            left_ns = c->start_ns + c->load->timeout_ns - clock_monotonic_ns();
        if (left_ns <= 0)
            return timed_out(c, "no complete reply in time");
        set_receive_timeout(c, left_ns);
        ssize_t length = recv(c->fd, bytes, sizeof bytes, 0);
        int error = length < 0 ? errno : 0;
        int64_t now_ns = clock_monotonic_ns();
        left_ns = c->start_ns + c->load->timeout_ns - now_ns;
        if (error == EINTR && !stop_requested())
            continue;
        if (error == EAGAIN)
            return timed_out(c, "no complete reply in time");
        if (length <= 0)
            return closed(c, error, now_ns);
        c->worker->bytes_received += (uint64_t)length;
        if (c->first_byte_ns == 0)
            c->first_byte_ns = now_ns;
        enum verdict verdict = reply_feed(&c->reply, bytes, (size_t)length);
        if (verdict == REPLY_COMPLETE)
            return answered(c, now_ns);
        if (verdict != REPLY_INCOMPLETE)
            return answered_wrongly(c, verdict);
        if (left_ns <= 0 || stop_requested())
            return timed_out(c, "no complete reply in time");
    }
}

/* Tries the request on the open connection or a new one. */
static enum next attempt(struct blocking_connection *c, bool is_last) {
    int64_t left_ns = c->load->timeout_ns;
    bool is_first = c->fd < 0;
    if (is_first) {
        int outcome = open_connection(c);
        if (outcome != 0)
            return next_after(
                fail(c, load_connect_outcome(-outcome), load_connect_problem(-outcome)));
        left_ns -= clock_monotonic_ns() - c->start_ns;
    }
    c->requests++;
    c->form = &c->request->forms[is_first][is_last];
    c->sent = 0;
    load_reply_begin(c->load, c->worker, &c->reply, c->request, is_first,
                     c->load->viewer != NULL ? &c->body : NULL);
    return exchange(c, left_ns);
}

/* Makes one request. Returns false if this worker must stop. */
static bool ask(struct blocking_connection *c, bool is_last) {
    c->first_byte_ns = 0;
    c->body.length = 0;
    c->body.overflow = false;
    c->request = requests_next(&c->load->requests, &c->worker->next_request);
    c->start_ns = clock_monotonic_ns();
    enum next next = attempt(c, is_last);
    if (next == NEXT_ATTEMPT) {
        close_connection(c);
        c->worker->resent++;
        next = attempt(c, is_last);
    }
    return next == NEXT_REQUEST;
}

static struct blocking_connection new_connection(const struct load *load, struct worker *worker,
                                                 uint32_t number) {
    struct blocking_connection made;
    made.load = load;
    made.worker = worker;
    made.number = number;
    made.fd = -1;
    made.requests = 0;
    made.body = text_growing(BODY_LIMIT);
    return made;
}

void blocking_burst(const struct load *load, struct worker *worker, uint32_t connection) {
    struct blocking_connection c = new_connection(load, worker, connection);
    ask(&c, true);
    close_connection(&c);
    text_release(&c.body);
}

void blocking_closed(const struct load *load, struct worker *worker, uint32_t connection,
                     int64_t end_ns) {
    struct blocking_connection c = new_connection(load, worker, connection);
    while (!stop_requested() && clock_monotonic_ns() < end_ns) {
        bool last =
            load->per_connection != 0 && (c.fd < 0 ? 0 : c.requests) + 1 >= load->per_connection;
        if (!ask(&c, last))
            break;
        if (c.fd < 0) {
            /* After a failure, do not flood a server in trouble or spin on a closed port. */
            nanosleep(&(struct timespec){.tv_nsec = RETRY_PAUSE_MS * NS_PER_MS}, NULL);
        } else if (last || c.reply.head.close) {
            close_connection(&c);
        }
    }
    close_connection(&c);
    text_release(&c.body);
}

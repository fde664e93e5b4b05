#include "engines/blocking_connection.h"

#include "base/clock.h"
#include "base/limits.h"
#include "load/stop.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { READ_SIZE = 16 * 1024, BODY_LIMIT = 64 * 1024 };

/* A connection and its current request. */
struct connection {
    const struct load *load;
    struct worker *worker;
    uint32_t number;
    int fd;                     /* −1: none */
    uint32_t requests;          /* made on this connection */
    int64_t receive_timeout_ns; /* the socket's receive timeout */
    int64_t start_ns, first_byte_ns;
    struct text body; /* for showing */
    struct reply reply;
};

static struct timeval to_timeval(int64_t ns) {
    /* Zero would mean no timeout. */
    int64_t us = ns > NS_PER_US ? ns / NS_PER_US : 1;
    return (struct timeval){.tv_sec = us / 1000000, .tv_usec = us % 1000000};
}

static void close_connection(struct connection *c) {
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

/* An interrupted request was neither answered nor failed, so it makes no sample. */
static bool fail(struct connection *c, enum outcome outcome, const char *why) {
    close_connection(c);
    if (stop_requested())
        return false;
    if (c->load->viewer != NULL)
        c->load->viewer->failure(c->load->viewer, c->number, why);
    return worker_failed(c->worker, c->number, c->start_ns, c->first_byte_ns, outcome, why);
}

/* Timeouts are set once, on the socket, so that a request costs two system calls. */
static int open_connection(struct connection *c) {
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

/* Returns 0 or -errno. */
static int send_request(struct connection *c, const struct text *request) {
    for (size_t sent = 0; sent < request->length;) {
        ssize_t more = send(c->fd, request->bytes + sent, request->length - sent, MSG_NOSIGNAL);
        if (more < 0)
            return -errno;
        sent += (size_t)more;
    }
    return 0;
}

/* Limits the next receive to the rest of the request's timeout, so that a server that sends byte by
 * byte cannot extend it. A reply in one piece needs no system call. */
static void set_receive_timeout(struct connection *c, int64_t left_ns) {
    int64_t slack_ns = c->load->timeout_ns / 64;
    if (left_ns >= c->receive_timeout_ns - slack_ns && left_ns <= c->receive_timeout_ns + slack_ns)
        return;
    struct timeval timeout = to_timeval(left_ns);
    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    c->receive_timeout_ns = left_ns;
}

static bool answered(struct connection *c, int64_t now_ns) {
    if (c->load->viewer != NULL)
        c->load->viewer->reply(c->load->viewer, c->number, now_ns - c->start_ns, &c->body);
    return worker_answered(c->worker, c->number, c->start_ns, c->first_byte_ns, now_ns, &c->reply);
}

/* Reads the reply and records the outcome. Returns false if this worker must stop. */
static bool read_reply(struct connection *c, int64_t left_ns) {
    char bytes[READ_SIZE], why[PROBLEM_LIMIT];
    for (;;) {
        set_receive_timeout(c, left_ns);
        ssize_t length = recv(c->fd, bytes, sizeof bytes, 0);
        int error = errno;
        int64_t now_ns = clock_monotonic_ns();
        left_ns = c->start_ns + c->load->timeout_ns - now_ns;
        if (length == 0 && reply_end(&c->reply) == REPLY_COMPLETE)
            return answered(c, now_ns);
        if (length == 0)
            return fail(c, OUTCOME_CLOSED, "the server closed the connection");
        if (length < 0 && error == EINTR && !stop_requested())
            continue;
        if (length < 0 && error == EAGAIN)
            return fail(c, OUTCOME_TIMEOUT, "no complete reply in time");
        if (length < 0)
            return fail(c, OUTCOME_CLOSED, strerrordesc_np(error));
        c->worker->bytes_received += (uint64_t)length;
        if (c->first_byte_ns == 0)
            c->first_byte_ns = now_ns;
        enum verdict verdict = reply_feed(&c->reply, bytes, (size_t)length);
        if (verdict == REPLY_COMPLETE)
            return answered(c, now_ns);
        if (verdict != REPLY_INCOMPLETE) {
            reply_explain(&c->reply, verdict, why);
            return fail(c, verdict == REPLY_REFUSED ? OUTCOME_REFUSED : OUTCOME_MALFORMED, why);
        }
        if (left_ns <= 0 || stop_requested())
            return fail(c, OUTCOME_TIMEOUT, "no complete reply in time");
    }
}

/* Makes one request, on the open connection or a new one. Returns false if this worker must stop.
 */
static bool ask(struct connection *c, bool is_last) {
    c->first_byte_ns = 0;
    c->body.length = 0;
    c->start_ns = clock_monotonic_ns();
    int64_t left_ns = c->load->timeout_ns;
    bool is_first = c->fd < 0;
    if (is_first) {
        int outcome = open_connection(c);
        if (outcome != 0)
            return fail(c, load_connect_outcome(-outcome), load_connect_problem(-outcome));
        left_ns -= clock_monotonic_ns() - c->start_ns;
    }
    c->requests++;
    const struct request *request = requests_next(&c->load->requests, &c->worker->next_request);
    load_reply_begin(c->load, &c->reply, request, is_first,
                     c->load->viewer != NULL ? &c->body : NULL);
    int outcome = send_request(c, &request->forms[is_first][is_last]);
    if (outcome == -EAGAIN)
        return fail(c, OUTCOME_TIMEOUT, "the request could not be sent in time");
    /* After other errors there may still be a reply: a server at its limit answers before it reads.
     */
    return read_reply(c, left_ns);
}

static struct connection new_connection(const struct load *load, struct worker *worker,
                                        uint32_t number) {
    struct connection made;
    made.load = load;
    made.worker = worker;
    made.number = number;
    made.fd = -1;
    made.requests = 0;
    made.body = text_growing(BODY_LIMIT);
    return made;
}

void blocking_burst(const struct load *load, struct worker *worker, uint32_t connection) {
    struct connection c = new_connection(load, worker, connection);
    ask(&c, true);
    close_connection(&c);
    text_release(&c.body);
}

void blocking_closed(const struct load *load, struct worker *worker, uint32_t connection,
                     int64_t end_ns) {
    struct connection c = new_connection(load, worker, connection);
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

#include "watch/host.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of the addresses of a name one may be silent: then the next is tried. */
static const int64_t CONNECT_NS = (int64_t)NS_PER_S;

enum { REQUEST_LIMIT = 2048, BACKOFF_LIMIT_S = 30, READ_SIZE = 16 * 1024, REFUSAL_LIMIT = 4096 };

static void give_up_attempt(struct host *host) {
    if (host->phase == PHASE_RESOLVING)
        resolve_abandon(host->fd, host->resolver);
    else if (host->fd >= 0)
        close(host->fd);
    host->fd = -1;
    host->phase = PHASE_REST;
}

const char *host_open(struct host *host, const char *wanted) {
    const char *problem = "";
    memset(host, 0, sizeof *host);
    host->fd = -1;
    host->wanted = wanted;
    host->request = text_growing(REQUEST_LIMIT);
    host->body = text_growing(ANSWER_LIMIT);
    for (const char *at = wanted; *at != '\0'; at++)
        if (*at <= ' ' || *at > '~') /* it is shown unescaped */
            return "the name must be of printable ASCII, without spaces";
    int count =
        address_parse_all(wanted, DEFAULT_PORT, true, host->found.list, ADDRESSES_LIMIT, &problem);
    if (count == -EINVAL)
        return problem;
    host->is_literal = count > 0;
    host->found.count = count > 0 ? count : 0;
    return NULL;
}

void host_close(struct host *host) {
    give_up_attempt(host);
    text_release(&host->request);
    text_release(&host->body);
}

void host_where(const struct host *host, char text[ADDRESS_TEXT_LIMIT]) {
    if (host->tried < host->found.count)
        address_format(&host->found.list[host->tried], text);
    else
        snprintf(text, ADDRESS_TEXT_LIMIT, "%s", host->wanted);
}

/* Doubles with each consecutive failure, from the interval up to half a minute. */
static int64_t backoff_ns(const struct host *host, const struct pace *pace) {
    int64_t limit_ns = (int64_t)BACKOFF_LIMIT_S * NS_PER_S;
    int64_t wait_ns = pace->interval_ns;
    for (uint32_t i = 1; i < host->failures && wait_ns < limit_ns; i++)
        wait_ns *= 2;
    return wait_ns < limit_ns ? wait_ns : limit_ns;
}

static bool fail(struct host *host, enum health health, const char *reason, const struct pace *pace,
                 int64_t now_ns) {
    give_up_attempt(host);
    if (host->failures++ == 0)
        host->failing_since_ns = now_ns;
    host->health = health;
    host->retry_ns = now_ns + backoff_ns(host, pace);
    snprintf(host->reason, sizeof host->reason, "%s", reason);
    return true;
}

/* The Host header has the address, which every server accepts; it might reject the name. */
static void write_request(struct host *host, const struct pace *pace) {
    char where[ADDRESS_TEXT_LIMIT];
    host_where(host, where);
    text_release(&host->request);
    question_write(&host->question, where, &pace->token, &host->request);
}

/* Connects to the first address, from the current one on, that does not fail at once. */
static bool connect_next(struct host *host, int error, const struct pace *pace, int64_t now_ns) {
    for (; host->tried < host->found.count; host->tried++) {
        const struct address *address = &host->found.list[host->tried];
        host->fd =
            socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        error = errno;
        if (host->fd < 0)
            continue;
        host->phase = PHASE_CONNECTING;
        int64_t share_ns = (host->deadline_ns - now_ns) / (host->found.count - host->tried);
        host->connect_by_ns = host->tried + 1 == host->found.count
                                  ? host->deadline_ns
                                  : now_ns + (share_ns < CONNECT_NS ? share_ns : CONNECT_NS);
        if (connect(host->fd, (const struct sockaddr *)&address->storage, address->length) == 0 ||
            errno == EINPROGRESS) {
            write_request(host, pace);
            return false;
        }
        error = errno;
        give_up_attempt(host);
    }
    host->tried = 0;
    return fail(host, HEALTH_UNREACHABLE, strerrordesc_np(error), pace, now_ns);
}

void host_ask(struct host *host, const struct question *question, const struct pace *pace,
              int64_t now_ns) {
    give_up_attempt(host);
    text_release(&host->body);
    host->question = *question;
    reply_begin(&host->reply, DIALECT_HTTP, 0, &host->body);
    host->refused = false;
    host->sent = 0;
    host->deadline_ns = now_ns + pace->timeout_ns;
    /* After a failure a name is looked up again: the host may have moved. */
    if (host->is_literal || (host->failures == 0 && host->found.count > 0)) {
        if (host->failures > 0)
            host->tried = 0;
        connect_next(host, 0, pace, now_ns);
        return;
    }
    host->fd = resolve_begin(host->wanted, &host->resolver);
    if (host->fd >= 0)
        host->phase = PHASE_RESOLVING;
    else
        fail(host, HEALTH_UNREACHABLE, strerrordesc_np(-host->fd), pace, now_ns);
}

struct pollfd host_wait(const struct host *host) {
    bool writing = host->phase == PHASE_CONNECTING ||
                   (host->phase == PHASE_ASKING && host->sent < host->request.length);
    return (struct pollfd){.fd = host->phase == PHASE_REST ? -1 : host->fd,
                           .events = writing ? POLLOUT : POLLIN};
}

static bool on_resolved(struct host *host, const struct pace *pace, int64_t now_ns) {
    resolve_end(host->fd, host->resolver, &host->found);
    host->phase = PHASE_REST;
    host->fd = -1;
    host->tried = 0;
    if (host->found.count > 0)
        return connect_next(host, 0, pace, now_ns);
    char reason[REASON_LIMIT];
    snprintf(reason, sizeof reason, "%s", host->found.problem);
    host->found.count = 0;
    return fail(host, HEALTH_UNREACHABLE, reason, pace, now_ns);
}

static bool connect_failed(struct host *host, int error, const struct pace *pace, int64_t now_ns) {
    give_up_attempt(host);
    host->tried++;
    return connect_next(host, error, pace, now_ns);
}

static bool on_connected(struct host *host, const struct pace *pace, int64_t now_ns) {
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(host->fd, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0)
        return connect_failed(host, error, pace, now_ns);
    host->phase = PHASE_ASKING;
    return false;
}

/* A complete reply. */
static bool on_answer(struct host *host, const struct pace *pace, int64_t now_ns) {
    static struct answer parsed; /* separate: an invalid answer must not replace the one shown */
    const char *problem = host->body.overflow
                              ? "the answer is too long"
                              : answer_parse(host->body.bytes, host->body.length, &parsed);
    if (problem != NULL)
        return fail(host, HEALTH_FAILING, problem, pace, now_ns);
    give_up_attempt(host);
    host->answer = parsed;
    host->answered_ns = now_ns;
    host->health = HEALTH_OK;
    host->failures = 0;
    return true;
}

/* Refused: the reason is the status and the first line of the body. */
static bool on_refusal(struct host *host, const struct pace *pace, int64_t now_ns) {
    char reason[REASON_LIMIT];
    const char *head_end =
        memmem(host->body.bytes, host->body.length, "\r\n\r\n", sizeof "\r\n\r\n" - 1);
    size_t length = 0;
    if (head_end != NULL) {
        head_end += 4;
        length = (size_t)(host->body.bytes + host->body.length - head_end);
        const char *newline = memchr(head_end, '\n', length);
        length = newline != NULL ? (size_t)(newline - head_end) : length;
    }
    int status_length = (int)host->reply.line_length;
    const char *status = memchr(host->reply.line, ' ', host->reply.line_length);
    if (status != NULL)
        status_length -= (int)(++status - host->reply.line);
    snprintf(reason, sizeof reason, "refused: %.*s%s%.*s", status != NULL ? status_length : 0,
             status != NULL ? status : "", length > 0 ? ": " : "", (int)length,
             length > 0 ? head_end : "");
    return fail(host, HEALTH_FAILING, reason, pace, now_ns);
}

/* Keeps the bytes of a refusal, head and body, up to a limit. */
static bool keep_refusal(struct host *host, const char *bytes, size_t length) {
    size_t room = REFUSAL_LIMIT - host->body.length;
    text_add(&host->body, bytes, length < room ? length : room);
    return host->body.length < REFUSAL_LIMIT;
}

static bool on_bytes(struct host *host, const char *bytes, size_t length, const struct pace *pace,
                     int64_t now_ns) {
    char reason[REASON_LIMIT];
    if (host->refused)
        return !keep_refusal(host, bytes, length) && on_refusal(host, pace, now_ns);
    switch (reply_feed(&host->reply, bytes, length)) {
    case REPLY_INCOMPLETE:
        return host->body.overflow && on_answer(host, pace, now_ns);
    case REPLY_COMPLETE:
        return on_answer(host, pace, now_ns);
    case REPLY_REFUSED:
        host->refused = true;
        return !keep_refusal(host, bytes, length) && on_refusal(host, pace, now_ns);
    case REPLY_MALFORMED:
    case REPLY_CHANGED: /* never: nothing is known before */
        break;
    }
    snprintf(reason, sizeof reason, "no regatta-server answers there: %s", host->reply.problem);
    return fail(host, HEALTH_FAILING, reason, pace, now_ns);
}

static bool on_end(struct host *host, const struct pace *pace, int64_t now_ns) {
    if (host->refused)
        return on_refusal(host, pace, now_ns);
    if (reply_end(&host->reply) == REPLY_COMPLETE)
        return on_answer(host, pace, now_ns);
    return fail(host, HEALTH_FAILING, "the connection closed before the answer was complete", pace,
                now_ns);
}

/* One read at a time: a host that never stops sending must not starve the others. */
static bool receive(struct host *host, const struct pace *pace, int64_t now_ns) {
    char bytes[READ_SIZE];
    ssize_t length = recv(host->fd, bytes, sizeof bytes, 0);
    if (length > 0)
        return on_bytes(host, bytes, (size_t)length, pace, now_ns);
    if (length == 0)
        return on_end(host, pace, now_ns);
    if (errno == EAGAIN || errno == EINTR)
        return false;
    /* A server that refuses may reset the connection after its reply. */
    return host->refused ? on_refusal(host, pace, now_ns)
                         : fail(host, HEALTH_FAILING, strerrordesc_np(errno), pace, now_ns);
}

static bool ask(struct host *host, const struct pace *pace, int64_t now_ns) {
    size_t left = host->request.length - host->sent;
    ssize_t sent = send(host->fd, host->request.bytes + host->sent, left, MSG_NOSIGNAL);
    if (sent >= 0)
        host->sent += (uint32_t)sent;
    else if (errno != EAGAIN && errno != EINTR)
        /* A reply that says why it closed may still be unread. */
        return receive(host, pace, now_ns);
    return false;
}

static bool on_deadline(struct host *host, const struct pace *pace, int64_t now_ns) {
    char reason[REASON_LIMIT];
    const char *what = "no answer";
    enum health health = HEALTH_UNREACHABLE;
    if (host->phase == PHASE_RESOLVING) {
        what = "the name was not resolved";
    } else if (host->phase == PHASE_CONNECTING) {
        what = "no connection";
    } else {
        health = HEALTH_FAILING;
        if (host->body.length > 0 || host->reply.head_bytes > 0)
            what = "no complete answer";
    }
    long tenths = (long)(pace->timeout_ns / (NS_PER_S / 10));
    snprintf(reason, sizeof reason, "%s within %ld.%ld s", what, tenths / 10, tenths % 10);
    return fail(host, health, reason, pace, now_ns);
}

int64_t host_deadline_ns(const struct host *host) {
    return host->phase == PHASE_CONNECTING ? host->connect_by_ns : host->deadline_ns;
}

bool host_go_on(struct host *host, short events, const struct pace *pace, int64_t now_ns) {
    bool is_new = false;
    if (events != 0) {
        if (host->phase == PHASE_RESOLVING)
            is_new = on_resolved(host, pace, now_ns);
        else if (host->phase == PHASE_CONNECTING)
            is_new = on_connected(host, pace, now_ns);
        else if (host->sent < host->request.length)
            is_new = ask(host, pace, now_ns);
        else
            is_new = receive(host, pace, now_ns);
    }
    if (host->phase != PHASE_REST && now_ns >= host->deadline_ns)
        is_new = on_deadline(host, pace, now_ns);
    else if (host->phase == PHASE_CONNECTING && now_ns >= host->connect_by_ns)
        is_new = connect_failed(host, ETIMEDOUT, pace, now_ns);
    return is_new;
}

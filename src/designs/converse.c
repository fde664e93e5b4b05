#include "designs/converse.h"

#include "server/answer.h"

#include <assert.h>
#include <errno.h>

/* Sends everything that waits. Returns 0 or -errno. */
static int send_output(int fd, struct exchange *exchange) {
    for (struct span out; (out = exchange_output(exchange)).length > 0;) {
        ssize_t sent = send(fd, out.bytes, out.length, MSG_NOSIGNAL);
        if (sent >= 0)
            exchange_sent(exchange, (size_t)sent);
        else if (errno != EINTR)
            return -errno;
    }
    return 0;
}

/* One read, and the answers to all that is complete then. Returns 0 or -errno. */
static int take_turn(struct server *server, int fd, struct exchange *exchange) {
    struct span space = exchange_space(exchange);
    if (space.length == 0)
        return 0; /* no memory: the exchange is closing */
    ssize_t got = recv(fd, space.bytes, space.length, 0);
    if (got < 0 && errno == EINTR)
        return 0;
    if (got < 0 && errno == EAGAIN) {
        answer_timeout(server, fd, exchange);
        return send_output(fd, exchange);
    }
    if (got < 0)
        return -errno;
    exchange_received(exchange, (size_t)got);
    while (answer_requests(server, fd, exchange) > 0) {
        int error = send_output(fd, exchange);
        if (error != 0)
            return error;
    }
    return 0;
}

bool converse(struct server *server, int fd) {
    struct exchange exchange;
    int error = 0;
    exchange_open(&exchange);
    while (error == 0 && !exchange_is_done(&exchange))
        error = take_turn(server, fd, &exchange);
    if (error != 0)
        answer_lost(server, fd, &exchange);
    exchange_close(&exchange);
    return exchange.is_refused;
}

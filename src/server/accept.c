#include "server/accept.h"

#include "base/hot.h"
#include "base/pause.h"
#include "exchange/exchange.h"
#include "server/close_connection.h"
#include "server/log.h"
#include "server/server.h"
#include "server/stop.h"

#include <errno.h>
#include <unistd.h>

static void say_and_close(const struct server *server, int fd, enum status status) {
    struct span answer = exchange_refusal(status);
    /* A new socket's buffer always has room for these few bytes. */
    (void)!send(fd, answer.bytes, answer.length, MSG_NOSIGNAL | MSG_DONTWAIT);
    log_end(server, fd);
    close_connection(fd, true);
}

void listener_refuse(struct server *server, int fd) {
    stats_add(&server->stats->errors[ERROR_REFUSED]);
    log_connection(server, fd, "refused: full");
    say_and_close(server, fd, STATUS_UNAVAILABLE);
}

/* Uses the descriptor that the stop signal replaces (stop.h) until the stop was noticed. It must
 * not ask again whether to stop: the answer may have changed, and drain_fd would block where fd
 * fails. */
static int accept_any(const struct listener *listener) {
    return accept4(listener->is_draining ? listener->drain_fd : listener->fd, NULL, NULL,
                   SOCK_CLOEXEC);
}

int listener_keep_reserve(struct server *server, int fd) {
    struct listener *listener = &server->listener;
    listener->reserve_fd = listener_open_reserve();
    if (fd < 0) {
        pause_a_moment(); /* the whole system is out of descriptors */
        return -EAGAIN;
    }
    if (listener->reserve_fd >= 0)
        return fd;
    listener_refuse(server, fd);
    listener->reserve_fd = listener_open_reserve();
    return -EAGAIN;
}

/* No descriptor is left: accepts the next client with the reserve and refuses it, unless another
 * descriptor became free meanwhile. Returns a connection that can be served, or -EAGAIN. */
static int accept_with_reserve(struct server *server) {
    struct listener *listener = &server->listener;
    struct pollfd waits[] = {{.fd = listener->drain_fd, .events = POLLIN},
                             {.fd = stop_fd(), .events = POLLIN}};
    stats_add(&server->stats->errors[ERROR_ACCEPT]);
    if (poll_or_pause(waits, 2, listener->is_nonblocking ? 0 : -1) <= 0 || waits[0].revents == 0)
        return -EAGAIN;
    close(listener->reserve_fd);
    int fd = accept_any(listener); /* blocks again if another worker took the client */
    return listener_keep_reserve(server, fd);
}

HOT int listener_welcome(struct server *server, int fd) {
    if (server->listener.is_draining)
        atomic_fetch_sub(&server->listener.last_clients->left, 1);
    stats_add(&server->stats->connections);
    if (access_admits(&server->options->access, fd)) {
        log_connection(server, fd, "connected");
        return fd;
    }
    stats_add(&server->stats->errors[ERROR_DENIED]);
    log_connection(server, fd, "denied: not in --allow");
    say_and_close(server, fd, STATUS_FORBIDDEN);
    return -EACCES;
}

/* Whether to accept more after a stop was requested. Clients that connect after the stop are not
 * served. */
static bool may_accept(struct listener *listener) {
    if (listener_is_left_to_others(listener))
        return false;
    if (!listener->is_borrowed)
        listener_begin_draining(listener);
    if (!listener->is_draining) {
        listener->is_draining = true;
        listener_set_nonblocking(listener);
    }
    return atomic_load(&listener->last_clients->left) > 0 && stop_left_ms() > 0;
}

HOT int listener_accept(struct server *server) {
    struct listener *listener = &server->listener;
    unsigned denied = 0;
    for (;;) {
        if (stop_is_requested() && !may_accept(listener))
            return -EAGAIN;
        int fd = accept_any(listener);
        if (fd >= 0) {
            fd = listener_welcome(server, fd);
            if (fd >= 0)
                return fd;
            /* Denied clients must not keep an event loop from its connections. */
            if (listener->is_nonblocking && !listener->is_draining && ++denied >= ACCEPT_BATCH)
                return -EAGAIN;
            continue;
        }
        switch (errno) {
        case EINTR:
        case ECONNABORTED: /* the client was gone before it was accepted */
        case ENOTSOCK:     /* the stop came between the check and the call (stop.h) */
            break;
        case EAGAIN:
            /* A blocking accept times out like the connections that inherit its timeout. */
            if (listener->is_nonblocking)
                return -EAGAIN;
            break;
        case EMFILE:
        case ENFILE:
        case ENOBUFS:
        case ENOMEM:
            fd = accept_with_reserve(server);
            if (fd >= 0)
                fd = listener_welcome(server, fd);
            if (fd >= 0)
                return fd;
            if (listener->is_nonblocking)
                return -EAGAIN;
            break;
        default:
            /* Of this connection alone (accept(2)), or for long: the socket was shut down by
             * another who holds it (EINVAL), a security module forbids it (EACCES, EPERM). */
            stats_add(&server->stats->errors[ERROR_ACCEPT]);
            pause_a_moment();
            if (listener->is_nonblocking)
                return -EAGAIN;
            break;
        }
    }
}

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

static void say_and_close(const struct server *server, int fd, enum refusal refusal) {
    struct span answer = exchange_refusal(refusal);
    /* A new socket's buffer always has room for these few bytes. */
    (void)!send(fd, answer.bytes, answer.length, MSG_NOSIGNAL | MSG_DONTWAIT);
    log_end(server, fd);
    close_connection(fd, true);
}

void listener_refuse(struct server *server, int fd) {
    stats_add(&server->stats->errors[ERROR_REFUSED]);
    log_connection(server, fd, "refused: full");
    say_and_close(server, fd, REFUSED_FULL);
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

/* Whether a client waits; until one does, or a stop is requested, where accept may block. */
static bool wait_for_client(const struct listener *listener) {
    struct pollfd waits[] = {{.fd = listener->drain_fd, .events = POLLIN},
                             {.fd = stop_fd(), .events = POLLIN}};
    return poll_or_pause(waits, 2, listener->is_nonblocking ? 0 : -1) > 0 && waits[0].revents != 0;
}

/* No descriptor is left, or no memory: has the service give back the descriptors that it keeps if
 * they are what is short, or accepts the next client with the reserve and refuses it, unless
 * another descriptor became free meanwhile. Returns a connection that can be served, or -EAGAIN. */
static int accept_with_reserve(struct server *server, int error) {
    struct listener *listener = &server->listener;
    if ((error == EMFILE || error == ENFILE) && service_shed(server->service)) {
        int fd = accept_any(listener);
        return fd >= 0 ? fd : -EAGAIN;
    }
    stats_add(&server->stats->errors[ERROR_ACCEPT]);
    if (!wait_for_client(listener))
        return -EAGAIN;
    close(listener->reserve_fd);
    int fd = accept_any(listener); /* blocks again if another worker took the client */
    return listener_keep_reserve(server, fd);
}

static int deny(const struct server *server, int fd, enum refusal refusal, const char *what) {
    stats_add(&server->stats->errors[ERROR_DENIED]);
    log_connection(server, fd, what);
    say_and_close(server, fd, refusal);
    return -EACCES;
}

HOT int listener_welcome(struct server *server, int fd) {
    if (server->listener.is_draining)
        atomic_fetch_sub(&server->listener.last_clients->left, 1);
    stats_add(&server->stats->connections);
    if (!access_admits(&server->options->access, fd))
        return deny(server, fd, REFUSED_ADDRESS, "denied: not in --allow");
    if (server->guesses != NULL && guesses_refuse_peer(server->guesses, fd))
        return deny(server, fd, REFUSED_GUESSES, "denied: too many wrong tokens");
    log_connection(server, fd, "connected");
    return fd;
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
            if (listener->is_nonblocking)
                return -EAGAIN;
            /* A blocking accept times out like the connections that inherit its timeout, or another
             * who holds a given socket has made it nonblocking. */
            wait_for_client(listener);
            break;
        case EMFILE:
        case ENFILE:
        case ENOBUFS:
        case ENOMEM:
            fd = accept_with_reserve(server, errno);
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

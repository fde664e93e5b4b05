#include "server/connection/accept.h"

#include "base/backoff.h"
#include "base/hot.h"
#include "server/connection/close_connection.h"
#include "server/connection/log.h"
#include "server/server.h"
#include "server/stop.h"
#include "service/exchange/exchange.h"

#include <errno.h>
#include <unistd.h>

static void say_and_close(const struct server *server, int fd, enum refusal refusal) {
    struct span answer = exchange_refusal(refusal);
    /* A new socket's buffer always has room for these few bytes. */
    (void)!send(fd, answer.bytes, answer.length, MSG_NOSIGNAL | MSG_DONTWAIT);
    log_disconnect(server, fd);
    close_refused(fd);
}

void listener_refuse(struct server *server, int fd) {
    stats_add(&server->stats->errors[ERROR_REFUSED]);
    log_connection(server, fd, "refused: full");
    say_and_close(server, fd, REFUSED_FULL);
}

/* Until this worker has noticed the stop it uses the descriptor that the stop signal replaces
 * (stop.h). It must not check for the stop again: that may have come meanwhile, and drain_fd would
 * block where fd fails. */
static int accept_any(const struct listener *listener) {
    return accept4(listener->is_draining ? listener->drain_fd : listener->fd, NULL, NULL,
                   SOCK_CLOEXEC);
}

int listener_restore_reserve(struct server *server, int fd) {
    struct listener *listener = &server->listener;
    listener->reserve_fd = listener_open_reserve();
    if (fd < 0) {
        back_off(); /* the whole system is out of descriptors */
        return -EAGAIN;
    }
    if (listener->reserve_fd >= 0)
        return fd;
    listener_refuse(server, fd);
    listener->reserve_fd = listener_open_reserve();
    return -EAGAIN;
}

/* Whether a client is waiting. Where accept may block, waits for one or for a stop. */
static bool wait_for_client(const struct listener *listener) {
    struct pollfd waits[] = {{.fd = listener->drain_fd, .events = POLLIN},
                             {.fd = stop_fd(), .events = POLLIN}};
    return poll_or_back_off(waits, 2, listener->is_nonblocking ? 0 : -1) > 0 &&
           waits[0].revents != 0;
}

/* Descriptors or memory ran out. If it is descriptors, the service first closes those that its scan
 * cache keeps. Otherwise accepts the next client with the reserve, to refuse it unless another
 * descriptor became free meanwhile. Returns a connection that can be served, or -EAGAIN. */
static int accept_with_reserve(struct server *server, int error) {
    struct listener *listener = &server->listener;
    if ((error == EMFILE || error == ENFILE) && service_release_files(server->service)) {
        int fd = accept_any(listener);
        return fd >= 0 ? fd : -EAGAIN;
    }
    stats_add(&server->stats->errors[ERROR_ACCEPT]);
    if (!wait_for_client(listener))
        return -EAGAIN;
    close(listener->reserve_fd);
    int fd = accept_any(listener); /* blocks again if another worker was faster */
    return listener_restore_reserve(server, fd);
}

static int deny(const struct server *server, int fd, enum refusal refusal, const char *what) {
    stats_add(&server->stats->errors[ERROR_DENIED]);
    log_connection(server, fd, what);
    say_and_close(server, fd, refusal);
    return -EACCES;
}

HOT int listener_admit(struct server *server, int fd) {
    if (server->listener.is_draining) {
        atomic_fetch_sub(&server->listener.last_clients->left, 1);
        listener_end(&server->listener);
    }
    stats_add(&server->stats->connections);
    if (!access_admits(&server->options->access, fd))
        return deny(server, fd, REFUSED_ADDRESS, "denied: not in --allow");
    if (server->guesses != NULL && guesses_refuse_peer(server->guesses, fd))
        return deny(server, fd, REFUSED_GUESSES, "denied: too many wrong tokens");
    log_connection(server, fd, "connected");
    return fd;
}

/* Whether to accept more after a stop request: only clients that connected before it. */
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
            fd = listener_admit(server, fd);
            if (fd >= 0)
                return fd;
            /* Denied clients must not keep an event loop from its connections. */
            if (listener->is_nonblocking && !listener->is_draining && ++denied >= ACCEPT_BATCH)
                return -EAGAIN;
            continue;
        }
        switch (errno) {
        case EINTR:
        case ECONNABORTED: /* the client disconnected before accept */
        case ENOTSOCK:     /* the stop came between the check and the call (stop.h) */
            break;
        case EAGAIN:
            if (listener->is_nonblocking)
                return -EAGAIN;
            /* A blocking accept has the timeout that its connections inherit; or another process
             * that shares an inherited socket has made it nonblocking. */
            wait_for_client(listener);
            break;
        case EMFILE:
        case ENFILE:
        case ENOBUFS:
        case ENOMEM:
            fd = accept_with_reserve(server, errno);
            if (fd >= 0)
                fd = listener_admit(server, fd);
            if (fd >= 0)
                return fd;
            if (listener->is_nonblocking)
                return -EAGAIN;
            break;
        default:
            /* For this connection only (accept(2)), or lasting: another process that shares the
             * socket shut it down (EINVAL), or a security module forbids it (EACCES, EPERM). If our
             * parent did, it is about to stop this process. */
            if (!listener_has_ended(listener))
                stats_add(&server->stats->errors[ERROR_ACCEPT]);
            back_off();
            if (listener->is_nonblocking)
                return -EAGAIN;
            break;
        }
    }
}

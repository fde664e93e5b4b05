#include "server/listener.h"

#include "base/shared_memory.h"
#include "server/options.h"
#include "server/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { UNCOUNTED = INT32_MIN }; /* last clients, until the server stops */

int listener_open_reserve(void) {
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Accepted connections inherit it: blocking calls on them fail with EAGAIN after the timeout. */
static int set_idle_timeout(int fd, const struct options *options) {
    int64_t idle_ms = options->idle_timeout_ms;
    const struct timeval timeout = {.tv_sec = idle_ms / 1000, .tv_usec = idle_ms % 1000 * 1000};
    /* The kernel keeps an idle client about as long as a design would. */
    const int silent_s = options->defers_accept ? (int)((idle_ms + 999) / 1000) : 0;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) != 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &silent_s, sizeof silent_s) != 0)
        return -errno;
    return 0;
}

static int configure(int fd, const struct options *options) {
    const int yes = 1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0)
        return -errno;
    return set_idle_timeout(fd, options);
}

static int share_port(int fd) {
    const int yes = 1;
    return setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes) == 0 ? 0 : -errno;
}

static int bind_to(int fd, const struct address *address) {
    const struct sockaddr *to = (const struct sockaddr *)&address->storage;
    return bind(fd, to, address->length) == 0 ? 0 : -errno;
}

/* The first listener binds before it shares its port, so that it fails if the port is in use. */
static int bind_and_listen(int fd, const struct options *options, bool is_first) {
    bool shares = options->design->shares_port;
    int error = shares && !is_first ? share_port(fd) : 0;
    if (error == 0)
        error = bind_to(fd, &options->listen);
    if (error == 0 && shares && is_first)
        error = share_port(fd);
    if (error == 0 && listen(fd, (int)options->backlog) != 0)
        error = -errno;
    return error;
}

/* NULL: out of memory. */
static struct last_clients *open_last_clients(void) {
    struct last_clients *last = shared_memory_map(sizeof *last);
    if (last != NULL)
        atomic_init(&last->left, UNCOUNTED);
    return last;
}

/* Completes a listener around a socket (or -errno), which it closes on failure. of: the listener
 * whose backlog it shares; NULL: none. Returns 0 or -errno. */
static int complete(struct listener *listener, int fd, const struct listener *of) {
    if (fd < 0)
        return fd;
    *listener =
        (struct listener){.fd = fd, .drain_fd = -1, .reserve_fd = -1, .shares_queue = of != NULL};
    listener->last_clients = of != NULL ? of->last_clients : open_last_clients();
    listener->drain_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    listener->reserve_fd = listener_open_reserve();
    if (listener->last_clients != NULL && listener->drain_fd >= 0 && listener->reserve_fd >= 0)
        return 0;
    int error = listener->last_clients != NULL ? -EMFILE : -ENOMEM;
    listener_close(listener);
    return error;
}

/* Returns a listening socket or -errno. */
static int open_socket(const struct options *options, bool is_first) {
    int fd = socket(options->listen.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int error = configure(fd, options);
    if (error == 0)
        error = bind_and_listen(fd, options, is_first);
    if (error == 0)
        return fd;
    close(fd);
    return error;
}

/* Returns 0 or -errno. */
static int learn_address(int fd, struct address *address) {
    address->length = sizeof address->storage;
    return getsockname(fd, (struct sockaddr *)&address->storage, &address->length) == 0 ? 0
                                                                                        : -errno;
}

int listener_open(struct listener *listener, struct options *options) {
    int error = complete(listener, open_socket(options, true), NULL);
    if (error == 0)
        error = learn_address(listener->fd, &options->listen);
    return error;
}

static bool is_listening_tcp(int fd, const struct address *address) {
    int listens = 0, type = 0;
    socklen_t length = sizeof listens;
    sa_family_t family = address->storage.ss_family;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0 && listens != 0 &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM &&
           (family == AF_INET || family == AF_INET6);
}

int listener_adopt(struct listener *listener, struct options *options, int fd) {
    int error = learn_address(fd, &options->listen);
    if (error != 0 || !is_listening_tcp(fd, &options->listen))
        return -ENOTSOCK;
    error = configure(fd, options);
    /* O_NONBLOCK is left as it is: another server may be using the socket while this one starts. */
    if (error == 0 &&
        (listen(fd, (int)options->backlog) != 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0))
        error = -errno;
    if (error == 0)
        error = complete(listener, fd, NULL);
    if (error == 0)
        listener->is_inherited = true;
    return error;
}

static int open_one_other(struct listener *listener, const struct listener *first,
                          const struct options *options) {
    if (!first->is_inherited)
        return complete(listener, open_socket(options, false), NULL);
    int fd = fcntl(first->fd, F_DUPFD_CLOEXEC, 0);
    return complete(listener, fd < 0 ? -errno : fd, first);
}

int listeners_open_others(struct listener **others, const struct listener *first,
                          const struct options *options) {
    unsigned count = 0;
    int error = 0;
    *others = calloc(options->workers, sizeof **others);
    if (*others == NULL)
        return -ENOMEM;
    while (error == 0 && count + 1 < options->workers) {
        error = open_one_other(&(*others)[count], first, options);
        count += error == 0;
    }
    if (error == 0)
        return 0;
    while (count > 0)
        listener_close(&(*others)[--count]);
    free(*others);
    *others = NULL;
    return error;
}

void listener_close(struct listener *listener) {
    int *const fds[] = {&listener->fd, &listener->drain_fd, &listener->reserve_fd};
    for (int i = 0; i < 3; i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
    if (listener->last_clients != NULL && !listener->shares_queue)
        shared_memory_unmap(listener->last_clients, sizeof *listener->last_clients);
    listener->last_clients = NULL;
}

void listener_leave(const struct listener *listener) {
    close(listener->fd);
    close(listener->drain_fd);
}

void listener_set_nonblocking(struct listener *listener) {
    /* The flag belongs to the socket and so applies to fd as well. */
    fcntl(listener->drain_fd, F_SETFL, O_RDWR | O_NONBLOCK);
    listener->is_nonblocking = true;
}

static int32_t count_waiting(const struct listener *listener) {
    struct tcp_info info;
    socklen_t length = sizeof info;
    /* For a listening socket this is the length of its accept queue. */
    if (getsockopt(listener->drain_fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0)
        return 0;
    return (int32_t)info.tcpi_unacked;
}

void listener_begin_draining(struct listener *listener) {
    _Atomic int32_t *left = &listener->last_clients->left;
    int32_t uncounted = UNCOUNTED;
    if (atomic_load(left) == UNCOUNTED)
        atomic_compare_exchange_strong(left, &uncounted, count_waiting(listener));
    listener_end(listener);
}

/* A shutdown ends it in all processes that share it. The sandbox does not allow that beside a ring,
 * whose process is the only one: there the descriptors are replaced, as by the stop signal, and the
 * last one closes it. */
void listener_end(const struct listener *listener) {
    if (listener->is_inherited || listener->shares_queue || listener_has_last_clients(listener))
        return;
    if (shutdown(listener->drain_fd, SHUT_RD) != 0 && errno == EPERM) {
        dup2(stop_fd(), listener->drain_fd);
        dup2(stop_fd(), listener->fd);
    }
}

bool listener_is_left_to_others(const struct listener *listener) {
    return stop_is_requested() && listener->is_borrowed &&
           atomic_load(&listener->last_clients->left) == UNCOUNTED;
}

bool listener_has_last_clients(const struct listener *listener) {
    return atomic_load(&listener->last_clients->left) > 0 && count_waiting(listener) > 0;
}

/* A worker that has not noticed the stop takes clients without counting them, so some may be left
 * when none waits. */
bool listener_has_ended(const struct listener *listener) {
    return atomic_load(&listener->last_clients->left) != UNCOUNTED &&
           !listener_has_last_clients(listener);
}

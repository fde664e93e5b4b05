#include "client/engines/connect.h"

#include "base/clock.h"
#include "client/load/stop.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

int connect_socket(const struct load *load, struct worker *worker) {
    int fd = socket(load->address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int outcome = sources_bind(&load->sources, fd, worker->next_source++);
    if (outcome == 0)
        return fd;
    close(fd);
    return outcome;
}

int connect_begin(const struct load *load, int fd) {
    const struct address *address = &load->address;
    if (connect(fd, (const struct sockaddr *)&address->storage, address->length) == 0 ||
        errno == EINPROGRESS)
        return 0;
    return -errno;
}

/* Returns 0 when connected, or -errno. */
static int wait_until_connected(int fd, int64_t deadline_ns) {
    struct pollfd connected = {.fd = fd, .events = POLLOUT};
    while (poll(&connected, 1, STOP_POLL_MS) <= 0) {
        if (stop_requested())
            return -EINTR;
        if (clock_monotonic_ns() >= deadline_ns)
            return -ETIMEDOUT;
    }
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
    return -error;
}

/* A name has no address for long where nobody answers at all. */
static const int64_t CHOICE_NS = (int64_t)NS_PER_S;

static bool accepts(const struct load *load) {
    int fd = socket(load->address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    int64_t wait_ns = load->timeout_ns < CHOICE_NS ? load->timeout_ns : CHOICE_NS;
    int outcome = connect_begin(load, fd);
    if (outcome == 0)
        outcome = wait_until_connected(fd, clock_monotonic_ns() + wait_ns);
    close(fd);
    return outcome == 0;
}

void connect_choose(struct load *load, const struct address *list, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        load->address = list[i];
        if (count == 1 || accepts(load))
            return;
    }
    load->address = list[0];
}

int connect_wait(const struct load *load, int fd) {
    int64_t deadline_ns = clock_monotonic_ns() + load->timeout_ns;
    int outcome = connect_begin(load, fd);
    return outcome == 0 ? wait_until_connected(fd, deadline_ns) : outcome;
}

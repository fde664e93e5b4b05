#include "server/connection/close_connection.h"

#include "base/clock.h"
#include "base/hot.h"
#include "service/exchange/exchange.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* With MSG_TRUNC, TCP discards the data without copying it (tcp(7)). A plain system call, because
 * the thread sanitizer would report recv as a write of all threads to NULL. */
static ssize_t discard(int fd) {
    return syscall(SYS_recvfrom, fd, NULL, DISCARD_BYTES, MSG_DONTWAIT | MSG_TRUNC, NULL, NULL);
}

/* A client that asked for the end sends nothing more: only bytes behind its request show that it
 * does, and only then is it worth the wait. */
HOT bool close_must_wait(int fd, const struct exchange *exchange) {
    if (!exchange->ends_with_reply || exchange->has_ended || !exchange_is_done(exchange))
        return false;
    if (!exchange->is_refused && discard(fd) <= 0)
        return false;
    shutdown(fd, SHUT_WR);
    return true;
}

int close_discard(int fd, int32_t *left) {
    ssize_t got = discard(fd);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    *left -= (int32_t)got;
    return got > 0 && *left > 0 ? 1 : -1;
}

void close_wait(int fd, const struct exchange *exchange) {
    if (!close_must_wait(fd, exchange))
        return;
    const int64_t end_ns = clock_monotonic_ns() + LEAVING_MS * (int64_t)NS_PER_MS;
    struct pollfd input = {.fd = fd, .events = POLLIN};
    int32_t left = LEAVING_BYTES;
    int64_t left_ns;
    while (close_discard(fd, &left) >= 0 && (left_ns = end_ns - clock_monotonic_ns()) > 0)
        poll(&input, 1, (int)(left_ns / NS_PER_MS) + 1);
}

void close_refused(int fd) {
    shutdown(fd, SHUT_WR);
    discard(fd);
    close(fd);
}

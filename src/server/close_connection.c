#include "server/close_connection.h"

#include "base/hot.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As much as a client can have sent before anything was read: a receive buffer, as it begins
 * (tcp(7), tcp_rmem). A client that goes on sending would keep others waiting. */
enum { DISCARD_BYTES = 128 * 1024 };

/* TCP discards with MSG_TRUNC, and copies nothing (tcp(7)). The thread sanitizer would take recv
 * for a write to NULL, which every thread does. */
static void discard(int fd) {
    syscall(SYS_recvfrom, fd, NULL, DISCARD_BYTES, MSG_DONTWAIT | MSG_TRUNC, NULL, NULL);
}

HOT void close_connection(int fd, bool is_refused) {
    if (is_refused) {
        shutdown(fd, SHUT_WR);
        discard(fd);
    }
    close(fd);
}

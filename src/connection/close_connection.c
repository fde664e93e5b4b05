#include "connection/close_connection.h"

#include "base/hot.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* An initial receive buffer (tcp(7), tcp_rmem): as much as a client can have sent before the first
 * read. Not more, as a client that keeps sending would delay the others. */
enum { DISCARD_BYTES = 128 * 1024 };

/* With MSG_TRUNC, TCP discards the data without copying it (tcp(7)). A plain system call, because
 * the thread sanitizer would report recv as a write of all threads to NULL. */
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

/* Preloaded into a server, for failures that would otherwise affect the whole host. While the file
 * named by one of these variables exists:
 *     NO_FILES    accept fails with ENFILE, as if the system were out of open files
 *     NO_ACCEPT   accept fails with EACCES, as if a security module denied it
 *     NO_WATCHES  epoll_ctl fails with ENOSPC, as at the limit fs.epoll.max_user_watches */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_so(const char *variable) {
    const char *sign = getenv(variable);
    return sign != NULL && access(sign, F_OK) == 0;
}

int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags) {
    if (is_so("NO_FILES") || is_so("NO_ACCEPT")) {
        errno = is_so("NO_ACCEPT") ? EACCES : ENFILE;
        return -1;
    }
    return (int)syscall(SYS_accept4, fd, address, length, flags);
}

int epoll_ctl(int set, int operation, int fd, struct epoll_event *event) {
    if (operation == EPOLL_CTL_ADD && is_so("NO_WATCHES")) {
        errno = ENOSPC;
        return -1;
    }
    return (int)syscall(SYS_epoll_ctl, set, operation, fd, event);
}

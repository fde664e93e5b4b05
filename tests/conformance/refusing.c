/* Preloaded into a server, for states of the kernel that would harm everybody: while the file named
 * by $NO_FILES exists, accept fails as if the whole system were out of open files; while that of
 * $NO_ACCEPT does, as if a security module forbade it; while that of $NO_WATCHES does, epoll takes
 * no more descriptors, as if its user had reached fs.epoll.max_user_watches, which is one number
 * for the whole host. */
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

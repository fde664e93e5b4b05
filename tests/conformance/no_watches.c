/* Preloaded into a server: while the file named by $NO_WATCHES exists, epoll accepts no more
 * descriptors, as if its user had reached fs.epoll.max_user_watches, which is one number for the
 * whole host. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

int epoll_ctl(int set, int operation, int fd, struct epoll_event *event) {
    const char *sign = getenv("NO_WATCHES");
    if (operation == EPOLL_CTL_ADD && sign != NULL && access(sign, F_OK) == 0) {
        errno = ENOSPC;
        return -1;
    }
    return (int)syscall(SYS_epoll_ctl, set, operation, fd, event);
}

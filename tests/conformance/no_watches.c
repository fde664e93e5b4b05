/* Preloaded into a server: while the file exists that $NO_WATCHES names, epoll takes no descriptor
 * more, as when its user has reached fs.epoll.max_user_watches: one number for all of a host. */
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

/* Preloaded into a server: while the file named by $NO_FILES exists, accept fails as if the whole
 * system were out of open files, a state that would harm everybody. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags) {
    const char *sign = getenv("NO_FILES");
    if (sign != NULL && access(sign, F_OK) == 0) {
        errno = ENFILE;
        return -1;
    }
    return (int)syscall(SYS_accept4, fd, address, length, flags);
}

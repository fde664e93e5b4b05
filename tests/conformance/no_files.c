/* Preloaded into a server: while the file exists that $NO_FILES names, accepting fails as it does
 * when the whole system is out of open files. To bring the system there would harm everybody. */
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

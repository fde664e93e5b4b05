#include "server/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A path, or behind a @ an abstract name. Returns 0 or -errno. */
static int connect_to(int fd, const char *name) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    if ((name[0] != '/' && name[0] != '@') || length > sizeof address.sun_path - 1)
        return -EINVAL;
    memcpy(address.sun_path, name, length);
    if (name[0] == '@')
        address.sun_path[0] = '\0';
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    return connect(fd, (const struct sockaddr *)&address, size) == 0 ? 0 : -errno;
}

int notify_open(int *manager_fd) {
    *manager_fd = -1;
    const char *name = getenv("NOTIFY_SOCKET");
    if (name == NULL)
        return 0;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int error = connect_to(fd, name);
    unsetenv("NOTIFY_SOCKET");
    if (error == 0)
        *manager_fd = fd;
    else
        close(fd);
    return error;
}

static void tell(int manager_fd, const char *what, size_t length) {
    if (manager_fd >= 0)
        (void)!send(manager_fd, what, length, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void notify_ready(int manager_fd) {
    static const char what[] = "READY=1";
    tell(manager_fd, what, sizeof what - 1);
}

void notify_stopping(int manager_fd) {
    static const char what[] = "STOPPING=1";
    tell(manager_fd, what, sizeof what - 1);
}

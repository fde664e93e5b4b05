#include "server/service_manager.h"

#include "base/number.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { FIRST_PASSED = 3 }; /* the first descriptor after the three standard ones */

static int count_passed(void) {
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    uint64_t for_pid, passed;
    if (pid == NULL || count == NULL || number_parse(pid, 1, INT_MAX, &for_pid) != 0 ||
        number_parse(count, 0, INT_MAX, &passed) != 0)
        return 0;
    /* Another pid: this process only inherited the variables. */
    return for_pid == (uint64_t)getpid() ? (int)passed : 0;
}

int activation_socket(void) {
    int count = count_passed();
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return count == 0 ? -ENOENT : count == 1 ? FIRST_PASSED : -E2BIG;
}

/* name: a path, or an abstract name after a @. Returns 0 or -errno. */
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

void notify_ready(int *manager_fd) {
    static const char what[] = "READY=1";
    if (*manager_fd < 0)
        return;
    (void)!send(*manager_fd, what, sizeof what - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(*manager_fd);
    *manager_fd = -1;
}

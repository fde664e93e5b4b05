#include "server/workers/deaths.h"

#include <errno.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

int deaths_open(struct deaths *deaths) {
    sigset_t set;
    signal(SIGCHLD, SIG_DFL); /* our parent may have set it to be ignored */
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, &deaths->inherited);
    deaths->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (deaths->fd >= 0)
        return 0;
    int error = -errno;
    deaths_close(deaths);
    return error;
}

void deaths_close(const struct deaths *deaths) {
    if (deaths->fd >= 0)
        close(deaths->fd);
    sigprocmask(SIG_SETMASK, &deaths->inherited, NULL);
}

void deaths_clear(const struct deaths *deaths) {
    struct signalfd_siginfo info;
    while (read(deaths->fd, &info, sizeof info) > 0)
        continue;
}

#include "watch/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

_Static_assert(sizeof(struct resolved) <= 4096, "a pipe write must be atomic");

static _Noreturn void look_up(const char *name, int fd, pid_t parent) {
    const char *problem = "";
    struct resolved found;
    memset(&found, 0, sizeof found);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    found.count =
        address_parse_all(name, DEFAULT_PORT, false, found.list, ADDRESSES_LIMIT, &problem);
    snprintf(found.problem, sizeof found.problem, "%s", problem);
    _exit(write(fd, &found, sizeof found) == sizeof found ? 0 : 1);
}

int resolve_begin(const char *name, pid_t *child) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return -errno;
    pid_t parent = getpid();
    *child = fork();
    if (*child == 0)
        look_up(name, ends[1], parent);
    int error = errno;
    close(ends[1]);
    if (*child > 0)
        return ends[0];
    close(ends[0]);
    return -error;
}

void resolve_abandon(int fd, pid_t child) {
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    close(fd);
}

void resolve_end(int fd, pid_t child, struct resolved *resolved) {
    if (read(fd, resolved, sizeof *resolved) != sizeof *resolved) {
        resolved->count = -EIO;
        snprintf(resolved->problem, sizeof resolved->problem, "the name lookup failed");
    }
    resolve_abandon(fd, child);
}

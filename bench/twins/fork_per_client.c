/* The twin of fork-per-client: a process for each connection.
 *
 * Children are reaped when the next one starts: this takes no signals, and accounts for all of
 * their CPU time. */
#include "twin.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void converse_and_exit(const struct twin *twin, int listener, int fd) {
    close(listener);
    twin_converse(twin, fd);
    _exit(EXIT_SUCCESS);
}

int serve(const struct twin *twin) {
    int listener = twin_listen(twin, false), fd = listener;
    twin_end_together();
    while (fd >= 0 && (fd = twin_accept(listener)) >= 0) {
        pid_t pid = fork();
        if (pid == 0)
            converse_and_exit(twin, listener, fd);
        if (pid < 0)
            return -errno;
        close(fd);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
    }
    return fd;
}

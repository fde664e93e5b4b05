/* The twin of prefork-flock: a pool of processes, accept behind a file lock. */
#include "pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>

struct prefork {
    const struct twin *twin;
    int listener, file;
};

/* A lock belongs to an open file description, which forked processes share, so each process opens
 * the file again. */
static int open_own(int file) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return open(path, O_RDWR | O_CLOEXEC);
}

static int accept_alone(int listener, int file) {
    if (flock(file, LOCK_EX) != 0)
        return -errno;
    int fd = twin_accept(listener);
    flock(file, LOCK_UN);
    return fd;
}

static void work(void *argument, unsigned worker) {
    const struct prefork *prefork = argument;
    int file = open_own(prefork->file), fd;
    (void)worker;
    while (file >= 0 && (fd = accept_alone(prefork->listener, file)) >= 0)
        twin_converse(prefork->twin, fd);
}

int serve(const struct twin *twin) {
    struct prefork prefork = {twin, twin_listen(twin, false), memfd_create("accept", MFD_CLOEXEC)};
    if (prefork.listener < 0 || prefork.file < 0)
        return prefork.listener < 0 ? prefork.listener : -errno;
    return pool_of_processes(WORKERS, work, &prefork);
}

/* prefork-flock: a pool of processes, accept behind a file lock.
 *
 * As prefork-accept, but one worker is blocked in accept and the others in a file lock: two more
 * system calls for each client. For kernels where several processes could not accept from one
 * socket, or all woke for each client. A worker that dies with the lock releases it. */
#include "base/pause.h"
#include "server/design.h"
#include "server/processes.h"
#include "workers/converse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

/* A lock belongs to an open file, which forked processes share: each opens the file again. */
static int open_again(int file) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return open(path, O_RDWR | O_CLOEXEC);
}

/* Waits for the lock, unless this worker is told to leave meanwhile. */
static bool lock_file(const struct server *server, int file) {
    while (flock(file, LOCK_EX) != 0) {
        if (listener_is_left_to_others(&server->listener))
            return false;
        if (errno != EINTR) /* the kernel may have no memory for a lock */
            pause_a_moment();
    }
    return true;
}

/* Whatever fails: while this worker served its client, no other could accept. */
static void unlock_file(int file) {
    while (flock(file, LOCK_UN) != 0)
        pause_a_moment();
}

static int accept_locked(struct server *server, int file) {
    if (!lock_file(server, file))
        return -EAGAIN;
    int fd = listener_accept(server);
    unlock_file(file);
    return fd;
}

static void serve(struct server *server, void *argument) {
    int file = open_again(*(const int *)argument), fd;
    if (file < 0)
        return;
    while ((fd = accept_locked(server, file)) >= 0)
        converse_alone(server, fd);
}

static int run(struct server *server) {
    int file = memfd_create("accept", MFD_CLOEXEC);
    if (file < 0)
        return -errno;
    int error = processes_run(server, serve, &file);
    close(file);
    return error;
}

const struct design design_prefork_flock = {
    .name = "prefork-flock",
    .summary = "a pool of processes, accept behind a file lock",
    .workers = POOL_WORKERS,
    .one_at_a_time = true,
    .run = run,
};

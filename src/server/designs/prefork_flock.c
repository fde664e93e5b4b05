/* prefork-flock: a pool of processes, accept behind a file lock.
 *
 * Like prefork-accept, but one worker is blocked in accept and the others in a file lock: two more
 * system calls per client. Meant for kernels where several processes could not accept on one
 * socket, or all woke up for each client. If a worker dies with the lock, the kernel releases it.
 */
#include "base/backoff.h"
#include "server/connection/accept.h"
#include "server/design.h"
#include "server/workers/processes.h"
#include "server/workers/serve_client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

/* A lock belongs to an open file description, which forked processes share, so each worker opens
 * the file again. */
static int open_again(int file) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return open(path, O_RDWR | O_CLOEXEC);
}

/* Waits for the lock. Returns false if this worker was stopped while it waited. */
static bool lock_file(const struct server *server, int file) {
    while (flock(file, LOCK_EX) != 0) {
        if (listener_is_left_to_others(&server->listener))
            return false;
        if (errno != EINTR) /* the kernel may have no memory for a lock */
            back_off();
    }
    return true;
}

/* Retries until it succeeds: otherwise no other worker could accept while this one serves. */
static void unlock_file(int file) {
    while (flock(file, LOCK_UN) != 0)
        back_off();
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
        serve_client(server, fd);
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

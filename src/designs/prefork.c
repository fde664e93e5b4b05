/* prefork-accept, prefork-flock, prefork-mutex: a pool of processes, each of which is an iterative
 * server on the same listening socket.
 *
 * The processes are there before the clients: nobody waits for a fork, and as many clients are
 * served at a time as there are workers; one more, and it waits until one of them has left. The
 * three differ in what stands around accept:
 *  - nothing: all free workers are blocked in accept, and the kernel wakes one for each client;
 *  - flock: one is blocked in accept, the others in a file lock. Two system calls more a client;
 *  - mutex: the others in a mutex in shared memory: a system call more only when somebody waits.
 * The locks come from kernels that could not let several processes accept from one socket, or woke
 * all of them for each client. A worker that dies with the lock does not keep it. */
#include "designs/converse.h"
#include "server/design.h"
#include "server/processes.h"
#include "server/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORKERS = 16 };

/* prefork-accept */

static void serve(struct server *own, void *argument) {
    (void)argument;
    int fd;
    while ((fd = listener_accept(own)) >= 0)
        converse_alone(own, fd);
}

static int run(struct server *server) {
    return processes_run(server, serve, NULL);
}

const struct design design_prefork_accept = {
    .name = "prefork-accept",
    .summary = "a pool of processes, all blocked in accept",
    .workers = WORKERS,
    .one_at_a_time = true,
    .run = run,
};

/* prefork-flock */

/* A lock belongs to an open file, which forked processes share: each opens the file again. */
static int open_own(int file) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return open(path, O_RDWR | O_CLOEXEC);
}

/* Waits for its turn, unless this worker is told to leave meanwhile. */
static bool lock_file(const struct server *own, int file) {
    while (flock(file, LOCK_EX) != 0)
        if (errno != EINTR || listener_is_left_to_others(&own->listener))
            return false;
    return true;
}

static int accept_with_flock(struct server *own, int file) {
    if (!lock_file(own, file))
        return -EAGAIN;
    int fd = listener_accept(own);
    flock(file, LOCK_UN);
    return fd;
}

static void serve_with_flock(struct server *own, void *argument) {
    int file = open_own(*(const int *)argument), fd;
    if (file < 0)
        return;
    while ((fd = accept_with_flock(own, file)) >= 0)
        converse_alone(own, fd);
}

static int run_with_flock(struct server *server) {
    int file = memfd_create("accept", MFD_CLOEXEC);
    if (file < 0)
        return -errno;
    int error = processes_run(server, serve_with_flock, &file);
    close(file);
    return error;
}

const struct design design_prefork_flock = {
    .name = "prefork-flock",
    .summary = "a pool of processes, accept behind a file lock",
    .workers = WORKERS,
    .one_at_a_time = true,
    .run = run_with_flock,
};

/* prefork-mutex */

static int accept_with_mutex(struct server *own, pthread_mutex_t *mutex) {
    if (pthread_mutex_lock(mutex) == EOWNERDEAD)
        pthread_mutex_consistent(mutex); /* it guards nothing that could be half done */
    int fd = listener_accept(own);
    pthread_mutex_unlock(mutex);
    return fd;
}

static void serve_with_mutex(struct server *own, void *argument) {
    int fd;
    while ((fd = accept_with_mutex(own, argument)) >= 0)
        converse_alone(own, fd);
}

static int run_with_mutex(struct server *server) {
    pthread_mutex_t *mutex =
        mmap(NULL, sizeof *mutex, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t attributes;
    if (mutex == MAP_FAILED)
        return -errno;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    int error = processes_run(server, serve_with_mutex, mutex);
    munmap(mutex, sizeof *mutex);
    return error;
}

const struct design design_prefork_mutex = {
    .name = "prefork-mutex",
    .summary = "a pool of processes, accept behind a shared mutex",
    .workers = WORKERS,
    .one_at_a_time = true,
    .run = run_with_mutex,
};

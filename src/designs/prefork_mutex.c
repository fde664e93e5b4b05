/* prefork-mutex: a pool of processes, accept behind a shared mutex.
 *
 * As prefork-accept, but one worker is blocked in accept and the others in a mutex in shared
 * memory: another system call only when somebody waits. A worker that dies with the mutex releases
 * it. */
#include "server/design.h"
#include "server/processes.h"
#include "workers/converse.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

static int accept_locked(struct server *server, pthread_mutex_t *mutex) {
    if (pthread_mutex_lock(mutex) == EOWNERDEAD)
        pthread_mutex_consistent(mutex); /* it protects no data */
    int fd = listener_accept(server);
    pthread_mutex_unlock(mutex);
    return fd;
}

static void serve(struct server *server, void *argument) {
    int fd;
    while ((fd = accept_locked(server, argument)) >= 0)
        converse_alone(server, fd);
}

static int run(struct server *server) {
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
    int error = processes_run(server, serve, mutex);
    munmap(mutex, sizeof *mutex);
    return error;
}

const struct design design_prefork_mutex = {
    .name = "prefork-mutex",
    .summary = "a pool of processes, accept behind a shared mutex",
    .workers = POOL_WORKERS,
    .one_at_a_time = true,
    .run = run,
};

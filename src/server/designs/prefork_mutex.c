/* prefork-mutex: a pool of processes, accept behind a shared mutex.
 *
 * Like prefork-accept, but one worker is blocked in accept and the others in a mutex in shared
 * memory, which costs a system call only when it is contended. If a worker dies with the mutex, the
 * next owner recovers it. */
#include "base/shared_memory.h"
#include "base/shared_mutex.h"
#include "server/connection/accept.h"
#include "server/design.h"
#include "server/workers/processes.h"
#include "server/workers/serve_client.h"

#include <errno.h>

static int accept_locked(struct server *server, pthread_mutex_t *mutex) {
    shared_mutex_lock(mutex); /* guards no data that a dead owner could have left inconsistent */
    int fd = listener_accept(server);
    pthread_mutex_unlock(mutex);
    return fd;
}

static void serve(struct server *server, void *argument) {
    int fd;
    while ((fd = accept_locked(server, argument)) >= 0)
        serve_client(server, fd);
}

static int run(struct server *server) {
    pthread_mutex_t *mutex = shared_memory_map(sizeof *mutex);
    if (mutex == NULL)
        return -ENOMEM;
    int error = shared_mutex_open(mutex);
    if (error == 0)
        error = processes_run(server, serve, mutex);
    shared_memory_unmap(mutex, sizeof *mutex);
    return error;
}

const struct design design_prefork_mutex = {
    .name = "prefork-mutex",
    .summary = "a pool of processes, accept behind a shared mutex",
    .workers = POOL_WORKERS,
    .one_at_a_time = true,
    .run = run,
};

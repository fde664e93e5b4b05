/* The twin of prefork-mutex: a pool of processes, accept behind a robust mutex in shared memory. */
#include "base/shared_mutex.h"
#include "pool.h"

#include <errno.h>
#include <sys/mman.h>

struct prefork {
    const struct twin *twin;
    int listener;
    pthread_mutex_t *mutex;
};

static int accept_alone(int listener, pthread_mutex_t *mutex) {
    shared_mutex_lock(mutex);
    int fd = twin_accept(listener);
    pthread_mutex_unlock(mutex);
    return fd;
}

static void work(void *argument, unsigned worker) {
    const struct prefork *prefork = argument;
    int fd;
    (void)worker;
    while ((fd = accept_alone(prefork->listener, prefork->mutex)) >= 0)
        twin_converse(prefork->twin, fd);
}

int serve(const struct twin *twin) {
    struct prefork prefork = {.twin = twin, .listener = twin_listen(twin, false)};
    prefork.mutex = mmap(NULL, sizeof *prefork.mutex, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (prefork.listener < 0 || prefork.mutex == MAP_FAILED)
        return prefork.listener < 0 ? prefork.listener : -errno;
    shared_mutex_open(prefork.mutex);
    return pool_of_processes(WORKERS, work, &prefork);
}
